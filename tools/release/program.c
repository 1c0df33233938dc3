/* The bot in one file: an isolated interpreter, and the modules, kernels and memory that it finds in this program.

   `tools/release/executable.py` makes the tables of modules and of kernels, and links it all. Nothing is read from the
   machine but what the arguments name. The module `_nonobot` is for `bot/kernels`, instead of ctypes and mmap. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <zlib.h>

#define LEVELS 4

typedef int32_t Function(int64_t *result, void **exception, int64_t, int64_t); /* as numba calls kernels */

struct kernel {
    const char *name;
    struct {
        const unsigned char *code;
        Function *function;
        uint32_t size, checksum;
    } by_level[LEVELS];
};

extern const struct kernel kernels[]; /* a name of NULL ends it, as in the next one */
extern const struct _frozen modules[];

/* Modules that would be loaded from files cannot be: no dynamic linker is a part of this program. */
void *dlopen(const char *file, int mode) { return NULL; }
void *dlsym(void *restrict library, const char *restrict name) { return NULL; }
int dlclose(void *library) { return 0; }
char *dlerror(void) { return "this program loads no libraries"; }

static PyObject *call(PyObject *function, PyObject *const *arguments, Py_ssize_t count)
{
    int64_t words[2] = {0, 0}, result = 0;
    void *exception = NULL;
    if (count > 2)
        return PyErr_Format(PyExc_TypeError, "a kernel takes up to 2 arguments, not %zd", count);
    for (Py_ssize_t at = 0; at < count; at++)
        words[at] = PyLong_AsLongLong(arguments[at]);
    Function *kernel = PyLong_AsVoidPtr(function);
    if (PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    kernel(&result, &exception, words[0], words[1]);
    Py_END_ALLOW_THREADS
    return PyLong_FromLongLong(result);
}

static PyMethodDef call_method = {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static PyObject *kernel(PyObject *module, PyObject *arguments)
{
    const char *name;
    int level;
    if (!PyArg_ParseTuple(arguments, "si", &name, &level))
        return NULL;
    for (const struct kernel *one = kernels; one->name && 0 <= level && level < LEVELS; one++)
        if (!strcmp(one->name, name)) {
            if (crc32(0, one->by_level[level].code, one->by_level[level].size) != one->by_level[level].checksum)
                return PyErr_Format(PyExc_ValueError, "the kernel %s of this executable is damaged; copy it again", name);
            PyObject *function = PyLong_FromVoidPtr((void *)one->by_level[level].function);
            PyObject *callable = function ? PyCFunction_New(&call_method, function) : NULL;
            Py_XDECREF(function);
            return callable;
        }
    return PyErr_Format(PyExc_LookupError, "this program has no kernel %s of level %d", name, level);
}

static PyObject *level(PyObject *module, PyObject *nothing)
{
    __builtin_cpu_init();
    return PyLong_FromLong(__builtin_cpu_supports("x86-64-v4")   ? 3
                           : __builtin_cpu_supports("x86-64-v3") ? 2
                           : __builtin_cpu_supports("x86-64-v2") ? 1
                                                                 : 0);
}

static PyObject *zeroed(PyObject *module, PyObject *bytes)
{
    size_t size = PyLong_AsSize_t(bytes);
    if (PyErr_Occurred())
        return NULL;
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return PyErr_NoMemory();
    return Py_BuildValue("NN", PyMemoryView_FromMemory(block, size, PyBUF_WRITE), PyLong_FromVoidPtr(block));
}

static PyMethodDef methods[] = {
    {"kernel", kernel, METH_VARARGS, "Return a kernel, by its name and the number of its level, as a function."},
    {"level", level, METH_NOARGS, "Return the number of the best level of x86-64 that this processor has."},
    {"zeroed", zeroed, METH_O, "Return a block of so many bytes, for the rest of the process, and its address."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_nonobot", NULL, -1, methods};

PyMODINIT_FUNC PyInit__nonobot(void) { return PyModule_Create(&definition); }

/* `typing` needs it of a module of C that the archive of Debian lacks. */
static PyObject *same(PyObject *module, PyObject *value) { return Py_NewRef(value); }
static PyMethodDef typing_methods[] = {{"_idfunc", same, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef typing_definition = {PyModuleDef_HEAD_INIT, "_typing", NULL, -1, typing_methods};
PyMODINIT_FUNC PyInit__typing(void) { return PyModule_Create(&typing_definition); }

static PyStatus initialize(int count, char **words)
{
    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    PyStatus status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return status;
    PyImport_FrozenModules = modules;
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.parse_argv = 0;
    config.install_signal_handlers = 1;
    config.site_import = 0;
    config.write_bytecode = 0;
    config.pathconfig_warnings = 0;
    config.module_search_paths_set = 1;
    /* Python would look for these around the program. */
    wchar_t **folders[] = {&config.home,        &config.prefix,          &config.exec_prefix,
                           &config.base_prefix, &config.base_exec_prefix, &config.program_name,
                           &config.executable,  &config.base_executable};
    for (size_t at = 0; at < sizeof folders / sizeof *folders && !PyStatus_Exception(status); at++)
        status = PyConfig_SetString(&config, folders[at], L"/nonobot");
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesArgv(&config, count, words);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return status;
}

int main(int count, char **words)
{
    PyStatus status = initialize(count, words);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    if (!PyImport_ImportModule("start"))
        PyErr_Print();
    return 2; /* the module ends the process itself */
}
