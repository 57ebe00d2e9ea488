# With `+`, the linker gets the jobserver.
out :
	+$(LINK)
plain :
	$(LINK)
