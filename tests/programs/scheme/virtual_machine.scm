;; A stack machine: a compiler from expressions to instructions, and instructions as procedures.
(import (scheme base) (scheme write))

(define (compile e env)
  (cond ((number? e) (list (list 'push e)))
        ((symbol? e) (list (list 'load (position e env 0))))
        ((eq? (car e) 'let)
         (append (compile (cadr (cadr e)) env)
                 (list '(bind))
                 (compile (list-ref e 2) (cons (car (cadr e)) env))
                 (list '(unbind))))
        ((eq? (car e) 'if)
         (let ((then (compile (list-ref e 2) env)) (other (compile (list-ref e 3) env)))
           (append (compile (cadr e) env)
                   (list (list 'jump-if-zero (+ 1 (length then)))) then
                   (list (list 'jump (length other))) other)))
        (else (append (compile (cadr e) env) (compile (list-ref e 2) env) (list (list 'op (car e)))))))
(define (position name env i) (if (eq? name (car env)) i (position name (cdr env) (+ i 1))))

(define operations (list (cons '+ +) (cons '- -) (cons '* *)))
;; Each instruction takes stack, environment and a procedure to go on with.
(define instructions
  (list
    (cons 'push (lambda (n) (lambda (s e pc k) (k (cons n s) e (+ pc 1)))))
    (cons 'load (lambda (i) (lambda (s e pc k) (k (cons (list-ref e i) s) e (+ pc 1)))))
    (cons 'bind (lambda () (lambda (s e pc k) (k (cdr s) (cons (car s) e) (+ pc 1)))))
    (cons 'unbind (lambda () (lambda (s e pc k) (k s (cdr e) (+ pc 1)))))
    (cons 'jump (lambda (n) (lambda (s e pc k) (k s e (+ pc n 1)))))
    (cons 'jump-if-zero (lambda (n) (lambda (s e pc k) (k (cdr s) e (if (= 0 (car s)) (+ pc n 1) (+ pc 1))))))
    (cons 'op (lambda (name)
      (let ((f (cdr (assq name operations))))
        (lambda (s e pc k) (k (cons (f (cadr s) (car s)) (cddr s)) e (+ pc 1))))))))
(define (assemble code)
  (list->vector (map (lambda (i) (apply (cdr (assq (car i) instructions)) (cdr i))) code)))
(define (run program)
  (let step ((s '()) (e '()) (pc 0))
    (if (= pc (vector-length program)) (car s) ((vector-ref program pc) s e pc step))))
(define (calculate e) (run (assemble (compile e '()))))
(write (compile '(+ 1 (* 2 3)) '())) (newline)
(write (calculate '(+ 1 (* 2 3)))) (newline)
(write (calculate '(let (x 5) (let (y (* x x)) (if (- y 25) 1 (+ x y)))))) (newline)
(write (calculate '(if 0 10 (if 1 20 30)))) (newline)
;=> ((push 1) (push 2) (push 3) (op *) (op +))
;=> 7
;=> 30
;=> 20
