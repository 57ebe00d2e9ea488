// A worker with the fault -DHOW=... Statically linked.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void writeFrame(const char *Path) {
  // A frame that announces one byte more than there is.
  static const char Head[88] = "DTLTOOBJ\2\0\0\0\0\0\0\0\5";
  FILE *F = fopen(Path, "w");
  fwrite(Head, 1, sizeof(Head), F);
  fwrite("half", 1, 4, F);
  fclose(F);
}

int main(int Argc, char **Argv) {
  const char *Name = strrchr(Argv[0], '/');
  Name = Name ? Name + 1 : Argv[0];
  enum {
    Killed,
    Cut,
    Plain,
    Own,
    Diagnostic,
    Unverified,
    Hungry,
    Huge,
    Talkative,
    Hanging,
    Deaf,
    Leaving
  } How = HOW;
  if (strcmp(Name, "true") == 0)
    return How == Unverified;
  if (strcmp(Name, "as") == 0)
    return 0;
  if (How == Deaf)
    pause();
  if (How == Leaving)
    return 3;
  static char Buffer[65536];
  while (read(0, Buffer, sizeof(Buffer)) > 0)
    ;
  const char *Output = "";
  FILE *Object = NULL;
  for (int I = 1; I + 1 < Argc; ++I)
    if (strcmp(Argv[I], "-o") == 0)
      Output = Argv[I + 1];
  switch (How) {
  case Killed:
    raise(SIGKILL);
    return 1;
  case Cut:
    writeFrame(Output);
    return 0;
  case Plain:
    fputs("no frame\n", fopen(Output, "w"));
    return 0;
  case Own:
    fputs("dtlto-codegen: error: -: no bundle\n", stderr);
    return 1;
  case Diagnostic:
    fputs("error: no registers left\n", stderr);
    return 1;
  case Unverified:
    return 1;
  case Hungry:
    // A node limits the address space, so mapping is enough. Then fail like
    // LLVM.
    while (mmap(0, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED)
      ;
    fputs("LLVM ERROR: out of memory\n", stderr);
    abort();
  case Huge:
    // 24 MB that can't be compressed.
    Object = fopen(Output, "w");
    for (unsigned long I = 0, X = 1; I != (24 << 20) / sizeof(X); ++I) {
      X = X * 6364136223846793005 + 1442695040888963407;
      fwrite(&X, sizeof(X), 1, Object);
    }
    fclose(Object);
    return 0;
  case Talkative:
    setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
    for (int I = 0; I != 40000; ++I)
      fputs("warning: this is the same line as ever, once more\n", stderr);
    writeFrame(Output);
    return 0;
  case Hanging:
    pause();
    return 1;
  case Deaf:
  case Leaving:
    return 1;
  }
}
