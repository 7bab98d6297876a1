;; An interpreter in continuation-passing style with call/cc, conditions and loops of its own.
(import (scheme base) (scheme write))

(define (evaluate e env k)
  (cond ((symbol? e) (k (unbox (cdr (assq e env)))))
        ((not (pair? e)) (k e))
        (else
         (case (car e)
           ((quote) (k (cadr e)))
           ((if) (evaluate (cadr e) env (lambda (v) (evaluate (list-ref e (if v 2 3)) env k))))
           ((lambda) (k (make-closure (cadr e) (list-ref e 2) env)))
           ((set!) (evaluate (list-ref e 2) env (lambda (v) (set-box! (cdr (assq (cadr e) env)) v) (k v))))
           ((begin) (sequence (cdr e) env k))
           ((letcc)
            (evaluate (list-ref e 2) (bind (cadr e) (lambda (vs ignored) (k (car vs))) env) k))
           ((letrec)
            (let ((env (bind (cadr e) #f env)))
              (evaluate (list-ref e 2) env
                (lambda (v) (set-box! (cdr (car env)) v) (evaluate (list-ref e 3) env k)))))
           (else (evaluate (car e) env
                   (lambda (f) (arguments (cdr e) env (lambda (vs) (f vs k))))))))))
(define (box v) (list v))
(define (unbox b) (car b))
(define (set-box! b v) (set-car! b v))
(define (bind name v env) (cons (cons name (box v)) env))
(define (sequence es env k)
  (if (null? (cdr es)) (evaluate (car es) env k) (evaluate (car es) env (lambda (_) (sequence (cdr es) env k)))))
(define (arguments es env k)
  (if (null? es) (k '()) (evaluate (car es) env (lambda (v) (arguments (cdr es) env (lambda (vs) (k (cons v vs))))))))
(define (make-closure names body env)
  (lambda (vs k)
    (let loop ((names names) (vs vs) (env env))
      (if (null? names) (evaluate body env k) (loop (cdr names) (cdr vs) (bind (car names) (car vs) env))))))
(define (primitive f) (lambda (vs k) (k (apply f vs))))
(define base
  (list (cons '+ (box (primitive +))) (cons '- (box (primitive -))) (cons '* (box (primitive *)))
        (cons '= (box (primitive =))) (cons 'list (box (primitive list)))
        (cons 'callcc (box (lambda (vs k) ((car vs) (list (lambda (vs2 ignored) (k (car vs2)))) k))))))
(define (run e) (evaluate e base (lambda (v) (write v) (newline) v)))
(run '((lambda (x y) (+ x (* y 2))) 3 4))
(run '(letrec fact (lambda (n) (if (= n 0) 1 (* n (fact (- n 1))))) (fact 6)))
(run '(+ 1 (callcc (lambda (k) (+ 10 (k 5))))))
(run '(* 2 (letcc out (+ 100 (out 21)))))
(run '(letrec loop (lambda (i acc) (if (= i 0) acc (loop (- i 1) (+ acc i)))) (loop 100 0)))
(run '((lambda (k n) (begin (callcc (lambda (c) (set! k c))) (set! n (+ n 1)) (if (= n 4) (list n) (k 0)))) 0 0))
;=> 11
;=> 720
;=> 6
;=> 42
;=> 5050
;=> (4)
