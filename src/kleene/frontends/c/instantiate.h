/* Read before every C++ source that may be compiled with libstdc++: its templates are instantiated
   where they are used. Its configuration says that the library has them instantiated (extern
   template), whatever the command line says, so the answer is changed behind it. */
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif
