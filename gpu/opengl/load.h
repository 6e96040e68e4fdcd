// pz_set_egl sets the function that eglGetProcAddress calls. It returns 0 if that is NULL.
int pz_set_egl(void *function);
