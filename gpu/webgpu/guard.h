// pz_guarded calls f(data). It returns 1 if the library panics in f, and 0 otherwise. On other systems
// than Linux a panic ends the program.
int pz_guarded(void (*f)(void *), void *data);
