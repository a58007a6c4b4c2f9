"""What other compiled modules call of driver/_cython/results/rows.pyx."""

cdef object rows_by(object factory, object names, object rows)
