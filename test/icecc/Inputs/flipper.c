// The compiler of an environment: runs /usr/bin/codegen, and flips a bit of the
// result, at an offset that differs between jobs. With -DOTHER_JOB, every
// result is that of the first job. Statically linked.

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int Argc, char **Argv) {
  const char *Name = strrchr(Argv[0], '/');
  Name = Name ? Name + 1 : Argv[0];
  if (strcmp(Name, "true") == 0 || strcmp(Name, "as") == 0)
    return 0;
  pid_t Child = fork();
  if (Child == 0) {
    execv("/usr/bin/codegen", Argv);
    _exit(3);
  }
  int Status;
  waitpid(Child, &Status, 0);
  if (Status != 0)
    return 1;
  const char *Output = "";
  for (int I = 1; I + 1 < Argc; ++I)
    if (strcmp(Argv[I], "-o") == 0)
      Output = Argv[I + 1];
#ifdef OTHER_JOB
  const char *First = "/tmp/first";
  if (link(Output, First) == 0)
    return 0;
  return unlink(Output) != 0 || link(First, Output) != 0;
#endif
  FILE *F = fopen(Output, "r+");
  if (!F)
    return 4;
  fseek(F, 0, SEEK_END);
  long At = getpid() % ftell(F);
  fseek(F, At, SEEK_SET);
  int C = fgetc(F);
  fseek(F, At, SEEK_SET);
  fputc(C ^ 1 << getpid() % 8, F);
  return fclose(F);
}
