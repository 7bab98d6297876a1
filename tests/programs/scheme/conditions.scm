;; Handlers, conditions that continue, and errors that primitives raise.
(import (scheme base) (scheme write))

(write (with-exception-handler
  (lambda (e) 10)
  (lambda () (+ 1 (raise-continuable 'need-a-number))))) (newline)

(write (call/cc (lambda (k)
  (with-exception-handler
    (lambda (e) (k (list 'escaped e)))
    (lambda () (+ 1 (raise 'stop))))))) (newline)

;; A handler runs outside of itself.
(write (with-exception-handler
  (lambda (e) (list 'outer e))
  (lambda ()
    (with-exception-handler
      (lambda (e) (raise-continuable (list 'inner e)))
      (lambda () (raise-continuable 'x)))))) (newline)

(define (try thunk)
  (guard (e ((error-object? e) (list 'error (error-object-message e) (error-object-irritants e)))
            ((symbol? e) (list 'symbol e))
            ((assq 'code (if (pair? e) e '())) => (lambda (p) (list 'code (cdr p)))))
    (thunk)))
(write (try (lambda () (error "something" 1 "two" 'three)))) (newline)
(write (try (lambda () (raise 'sym)))) (newline)
(write (try (lambda () (raise '((code . 7)))))) (newline)
(write (try (lambda () 'fine))) (newline)
(write (guard (e ((string? e) e)) (guard (e2 ((number? e2) 'number)) (raise "text")))) (newline)

(define (primitive-error? thunk) (guard (e ((error-object? e) 'error)) (thunk)))
(write (map primitive-error?
  (list (lambda () (car 5)) (lambda () (vector-ref (vector 1 2) 2)) (lambda () (+ 'a 1))
        (lambda () (undefined-procedure-here)) (lambda () ((lambda (x) x)))
        (lambda () (string-ref "abc" 10)) (lambda () ("not a procedure"))))) (newline)
(write (guard (e (#f 'never) (else (list 'else e))) (raise 1))) (newline)
(write (guard (e ((begin (display "tested ") #f) 1) (#t 2)) (raise 'x))) (newline)
;=> 11
;=> (escaped stop)
;=> (outer (inner x))
;=> (error "something" (1 "two" three))
;=> (symbol sym)
;=> (code 7)
;=> fine
;=> "text"
;=> (error error error error error error error)
;=> (else 1)
;=> tested 2
