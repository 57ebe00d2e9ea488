-- Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Goes through the interpreter and its libraries; prints what comes of each.

local function show(name, ...)
  print(name, ...)
end

-- The parser, the code generator, and what a compiled chunk is stripped to.
local source = "local a <const>, n = 7, 0; for i = 1, ... do " ..
  "if i % 3 == 0 then goto next end n = n + (i << 1 ~ a) // 2 ::next:: end return n"
local chunk = assert(load(source))
show("chunk", chunk(1000), load(string.dump(chunk, true))(1000))
show("syntax", load("x = = 1"))
show("syntax", load("goto nowhere"))

-- Closures, varargs, tail calls, to-be-closed variables.
local function count(n, ...)
  if n == 0 then return select("#", ...) end
  return count(n - 1, n, ...)
end
show("tail", count(100))
do
  local log = {}
  do
    local a <close> = setmetatable({}, { __close = function() log[#log + 1] = "a" end })
    local b <close> = setmetatable({}, { __close = function() log[#log + 1] = "b" end })
  end
  show("close", table.concat(log))
end

-- Coroutines, errors, and the debug library.
local steps = coroutine.wrap(function(...)
  local sum = 0
  for _, value in ipairs({ ... }) do sum = sum + coroutine.yield(value) end
  return sum
end)
show("coroutine", steps(1, 2, 3), steps(10), steps(20), steps(30))
show("pcall", pcall(error, { 1 }) == false, select(2, pcall(function() return nil + 1 end)))
show("xpcall", xpcall(function() local t = nil; return t.x end, function(text)
  return text:gsub("^.*:%d+: ", "")
end))
show("deep", (select(2, pcall(function() local function f() return 1 + f() end return f() end))
  :match("stack overflow")))
show("debug", debug.getinfo(1, "S").what, debug.getinfo(count, "u").isvararg)

-- Metatables.
local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Point) end
Point.__eq = function(a, b) return a.x == b.x end
Point.__lt = function(a, b) return a.x < b.x end
Point.__concat = function(a, b) return tostring(a.x) .. "|" .. tostring(b.x) end
Point.__len = function(a) return a.x end
Point.__call = function(a, more) return a.x * more end
local function point(x) return setmetatable({ x = x }, Point) end
show("meta", (point(1) + point(2)).x, point(3) == point(3), point(1) < point(2),
  point(4) .. point(5), #point(6), point(7)(8))

-- Strings: patterns, formats, packing, UTF-8.
local text = ("The quick brown fox "):rep(50)
show("gsub", #text:gsub("%w+", string.upper), select(2, text:gsub("(%a)(%a*)", "%2%1")))
show("find", text:find("fox", 1, true), text:match("^(%S+)%s+(%S+)"), ("[[x]]"):match("%b[]"))
show("format", ("%5.2f|%-6s|%06d|%x|%q|%g|%a"):format(1 / 3, "ab", -42, 255, "a\n\0b", 1e100, 1))
show("pack", string.unpack("<i4 z s2 d", string.pack("<i4 z s2 d", -5, "zero", "two", 0.5)))
show("utf8", utf8.char(228, 8364, 128512), utf8.len("äöü"), utf8.codepoint("€"))
show("number", 10 // 3, -7 % 3, 7.5 // 2, 2 ^ 0.5, 1 << 62, math.maxinteger + 1, 0x.8p1, "10" + 5)
show("convert", math.tointeger("8"), tonumber("zz", 36), tonumber("1e"), 3 | 0, math.type(3.0))
show("compare", 1 < 1.5, math.maxinteger < math.huge, "a" < "b", 2 ^ 53 == 2 ^ 53 + 1)

-- Tables and sorting.
local list = {}
for i = 1, 5000 do list[i] = (i * 7919) % 5003 end
table.sort(list, function(a, b) return a > b end)
show("sort", list[1], list[2500], list[5000], #list)
table.move(list, 1, 10, 3)
table.insert(list, 1, "first")
show("table", table.remove(list, 2), table.concat(list, ",", 1, 8), table.unpack(list, 1, 3))

-- Garbage: both collectors, weak tables, finalizers.
for _, mode in ipairs({ "generational", "incremental" }) do
  collectgarbage(mode)
  local weak, finalized = setmetatable({}, { __mode = "k" }), 0
  for i = 1, 20000 do
    local key = setmetatable({ i, tostring(i) }, { __gc = function() finalized = finalized + 1 end })
    weak[key] = { key }
  end
  collectgarbage()
  collectgarbage()
  show("garbage", mode, next(weak), finalized)
end

-- Files.
local name = os.tmpname()
local file = assert(io.open(name, "w+"))
file:write("one\n", 2, "\n", 3.5, "\nfour")
file:seek("set")
show("file", file:read("l", "n", "n", "l", "a"))
file:close()
for line in io.lines(name) do show("line", line) end
os.remove(name)
show("date", os.date("!%Y-%m-%d %H:%M:%S", 86400), os.time({ year = 2000, month = 1, day = 2,
  hour = 12, isdst = false }) - os.time({ year = 2000, month = 1, day = 1, hour = 12, isdst = false }))
show("require", pcall(require, "there.is.none") == false, package.loaded.string == string)
print("all is well")
