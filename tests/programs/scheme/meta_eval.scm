;; An interpreter for a small Scheme whose procedures are closures of ours.
(import (scheme base) (scheme write))

(define (lookup name env)
  (let ((entry (assq name env)))
    (if entry (cdr entry) (error "unbound" name))))

(define (extend names values env)
  (if (null? names) env (cons (cons (car names) (car values)) (extend (cdr names) (cdr values) env))))

(define (compile expr)
  (cond ((symbol? expr) (lambda (env) (lookup expr env)))
        ((not (pair? expr)) (lambda (env) expr))
        ((eq? (car expr) 'quote) (let ((v (cadr expr))) (lambda (env) v)))
        ((eq? (car expr) 'if)
         (let ((test (compile (cadr expr)))
               (then (compile (list-ref expr 2)))
               (else-part (compile (list-ref expr 3))))
           (lambda (env) (if (test env) (then env) (else-part env)))))
        ((eq? (car expr) 'lambda)
         (let ((names (cadr expr)) (body (compile (list-ref expr 2))))
           (lambda (env) (lambda args (body (extend names args env))))))
        (else
         (let ((operator (compile (car expr))) (operands (map compile (cdr expr))))
           (lambda (env)
             (apply (operator env) (map (lambda (operand) (operand env)) operands)))))))

(define base (list (cons '+ +) (cons '- -) (cons '* *) (cons '< <) (cons 'list list)))
(define (run expr) ((compile expr) base))

(write (run '((lambda (x y) (+ x (* 2 y))) 3 4))) (newline)
(write (run '(((lambda (f) (lambda (x) (f (f x)))) (lambda (y) (* y y))) 3))) (newline)
(define fact
  '((lambda (f n) (f f n))
    (lambda (self n) (if (< n 1) 1 (* n (self self (- n 1)))))
    10))
(write (run fact)) (newline)
(write (guard (e (#t (cons (error-object-message e) (error-object-irritants e))))
         (run '(list nothing)))) (newline)
;=> 11
;=> 81
;=> 3628800
;=> ("unbound" nothing)
