;; Generators: each is a procedure that gives one value a call, by continuations both ways.
(import (scheme base) (scheme write))

(define (make-generator body)
  (define return #f)
  (define (yield value)
    (call/cc
      (lambda (resume)
        (set! next (lambda () (resume #f)))
        (return value))))
  (define (next)
    (body yield)
    (set! next (lambda () (return 'done)))
    (return 'done))
  (lambda ()
    (call/cc (lambda (k) (set! return k) (next)))))

(define (tree->generator tree)
  (make-generator
    (lambda (yield)
      (let walk ((tree tree))
        (cond ((null? tree) #f)
              ((pair? tree) (walk (car tree)) (walk (cdr tree)))
              (else (yield tree)))))))

(define (same-fringe? a b)
  (let ((next-a (tree->generator a)) (next-b (tree->generator b)))
    (let loop ()
      (let ((x (next-a)) (y (next-b)))
        (cond ((not (eqv? x y)) #f)
              ((eq? x 'done) #t)
              (else (loop)))))))

(define numbers (make-generator (lambda (yield) (for-each yield '(1 2 3)))))
(write (list (numbers) (numbers) (numbers) (numbers) (numbers))) (newline)
(write (same-fringe? '(1 (2 3) 4) '((1 2) (3 (4))))) (newline)
(write (same-fringe? '(1 2 3) '(1 3 2))) (newline)

(define (evens) (make-generator (lambda (yield) (let loop ((i 0)) (yield i) (loop (+ i 2))))))
(define (take n generator) (if (= n 0) '() (let ((v (generator))) (cons v (take (- n 1) generator)))))
(write (take 5 (evens))) (newline)
;=> (1 2 3 done done)
;=> #t
;=> #f
;=> (0 2 4 6 8)
