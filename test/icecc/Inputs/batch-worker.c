// Runs the dtlto-codegen next to this program, and injects the fault -DHOW=...
// into batches.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int Argc, char **Argv) {
  enum { Fails, Flips, Hangs } How = HOW;
  int IsBatch = 0;
  const char *Output = "";
  for (int I = 1; I < Argc; ++I) {
    IsBatch |= strcmp(Argv[I], "--batch") == 0;
    if (strcmp(Argv[I], "-o") == 0 && I + 1 < Argc)
      Output = Argv[I + 1];
  }
  if (IsBatch && How == Hangs)
    pause();
  if (IsBatch && How == Fails) {
    static char Buffer[65536];
    while (read(0, Buffer, sizeof(Buffer)) > 0)
      ;
    fputs("no batches here\n", stderr);
    return 1;
  }
  const char *Name = strrchr(Argv[0], '/');
  Name = Name ? Name + 1 : Argv[0];
  if (strcmp(Name, "as") == 0 || strcmp(Name, "true") == 0)
    return 0;
  int Child = fork(), Status = 1;
  if (Child == 0) {
    Argv[0] = (char *)"clang";
    execv("/usr/bin/codegen", Argv);
    _exit(99);
  }
  waitpid(Child, &Status, 0);
  if (Status)
    return 1;
  if (IsBatch) {
    // In the middle of the first object.
    FILE *F = fopen(Output, "r+");
    fseek(F, 16 + 88 + 100, SEEK_SET);
    int C = fgetc(F);
    fseek(F, 16 + 88 + 100, SEEK_SET);
    fputc(C ^ 1, F);
    fclose(F);
  }
  return 0;
}
