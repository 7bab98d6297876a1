; Text that is evaluated may do anything with what it sees.
(define (f x) x)
(eval '(f 1) (scheme-report-environment 5)) ; expect: cfa/evaluates
(f 2)
