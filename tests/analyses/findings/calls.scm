; Calls that do not fit, of what is no procedure, and code that nothing runs.
(define (f x) x)
(define (g x y) x) ; expect: cfa/unreachable-procedure
(define n 4)
(define cell (cons f n))
(f 1 2) ; expect: cfa/call-arity
(car) ; expect: cfa/call-arity
(missing 3) ; expect: cfa/unbound
(n 1) ; expect: cfa/not-a-procedure
("text" 1) ; expect: cfa/not-a-procedure
(cell 1) ; expect: cfa/not-a-procedure
((car cell) 1)
(define (unused) 1) ; expect: cfa/unreachable-procedure
(define (apply-it h) (h 1)) ; expect: cfa/may-call-arity
(apply-it f)
(apply-it g)
(car 5) ; expect: cfa/argument-type
(define (head l) (car l)) ; expect: cfa/may-argument-type
(head '(1))
(head '())
(define spare 1) ; expect: cfa/unused-definition
(apply g '(1)) ; expect: cfa/call-arity
(call-with-values (lambda () (values 1 2)) f) ; expect: cfa/call-arity
(define k (call/cc (lambda (k) k)))
(k k)
(define pick (case-lambda ((x) x) ((x y) y)))
(pick (pick 1 2))
(let loop ((i 0)) (if (< i 3) (loop (+ i 1))))
((if (f #t) f car) '(1))
(for-each (lambda (x) (x 1)) (list f f))
