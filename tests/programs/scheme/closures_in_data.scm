;; Closures kept in lists, vectors, association lists, and in each other.
(import (scheme base) (scheme write) (scheme cxr))

(define (make-counter)
  (let ((n 0)) (lambda () (set! n (+ n 1)) n)))
(define counters (vector (make-counter) (make-counter)))
((vector-ref counters 0))
((vector-ref counters 0))
((vector-ref counters 1))
(write (vector-map (lambda (c) (c)) counters)) (newline)

(define operations
  (list (cons 'add +) (cons 'twice (lambda (x) (* 2 x))) (cons 'compose (lambda (f g) (lambda (x) (f (g x)))))))
(define (op name) (cdr (assq name operations)))
(write (((op 'compose) (op 'twice) (lambda (x) ((op 'add) x 1))) 10)) (newline)

;; An account that answers messages, and an object that hands on what it does not know.
(define (make-account balance)
  (define (deposit x) (set! balance (+ balance x)) balance)
  (define (withdraw x) (if (> x balance) 'refused (begin (set! balance (- balance x)) balance)))
  (lambda (message)
    (case message
      ((deposit) deposit)
      ((withdraw) withdraw)
      ((balance) (lambda () balance))
      (else (lambda _ 'unknown)))))
(define (make-logged object log)
  (lambda (message)
    (lambda args
      (set-cdr! log (cons message (cdr log)))
      (apply (object message) args))))
(define log (list 'log))
(define account (make-logged (make-account 100) log))
(write (list ((account 'deposit) 50) ((account 'withdraw) 500) ((account 'withdraw) 30)
             ((account 'close)) ((account 'balance)))) (newline)
(write (reverse (cdr log))) (newline)

(define tree (list (lambda (x) (+ x 1)) (list (lambda (x) (* x x)) (list (lambda (x) (- x))))))
(define (run tree x)
  (cond ((null? tree) x)
        ((procedure? (car tree)) (run (cdr tree) ((car tree) x)))
        (else (run (cdr tree) (run (car tree) x)))))
(write (run tree 4)) (newline)
(write ((caadr tree) 7)) (newline)
;=> #(3 2)
;=> 22
;=> (150 refused 120 unknown 120)
;=> (deposit withdraw withdraw close balance)
;=> -25
;=> 49
