"""Clocks: read by a call of the system's where nobody has put another one into the module ``time``.

A call of ``time.monotonic`` costs 180 instructions and finding it by its name 110; asking whether
it is there still, as long as nothing in that module has changed, 5.
"""

cdef extern from *:
    """
    #include <time.h>
    static inline double driver_now(void) {  /* as time.monotonic */
    #ifdef CLOCK_MONOTONIC
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec + now.tv_nsec * 1e-9;
    #else
        return 0;
    #endif
    }
    static inline long long driver_microseconds(void) {  /* since 1970 */
    #ifdef CLOCK_REALTIME
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
    #else
        return 0;
    #endif
    }
    #if defined(CLOCK_MONOTONIC) && defined(CLOCK_REALTIME)
    #define DRIVER_CLOCKS 1
    #else
    #define DRIVER_CLOCKS 0
    #endif

    /* What a dict had under a name, which is there as long as nothing in the dict has changed. */
    typedef struct {
        unsigned long long version;
        PyObject *value;
    } driver_name;

    static inline PyObject *driver_named(PyObject *names, PyObject *name, driver_name *known) {
        PyObject *value;
    #if PY_VERSION_HEX < 0x030C0000
        if (((PyDictObject *)names)->ma_version_tag == known->version)
            return Py_NewRef(known->value);
    #endif
        value = PyObject_GetItem(names, name);
    #if PY_VERSION_HEX < 0x030C0000
        if (value != NULL) {
            known->version = ((PyDictObject *)names)->ma_version_tag;
            known->value = value;
        }
    #endif
        return value;
    }
    """
    double driver_now() nogil
    long long driver_microseconds() nogil
    # Whether this system has both.
    const bint HAS_CLOCKS "DRIVER_CLOCKS"
    # What was found under a name; one for each name and place in the code.
    ctypedef struct Name "driver_name":
        pass
    # What a dict has under a name; KeyError if it has nothing.
    object named "driver_named"(dict names, object name, Name *known)
