;; Cooperative threads: a queue of continuations.
(import (scheme base) (scheme write))

(define queue '())
(define (enqueue! thunk) (set! queue (append queue (list thunk))))
(define (dequeue!) (let ((thunk (car queue))) (set! queue (cdr queue)) thunk))
(define exit-scheduler #f)

(define (spawn body) (enqueue! (lambda () (body) (next))))
(define (yield) (call/cc (lambda (k) (enqueue! (lambda () (k #f))) (next))))
(define (next) (if (null? queue) (exit-scheduler 'finished) ((dequeue!))))
(define (start) (call/cc (lambda (k) (set! exit-scheduler k) (next))))

(define (worker name n)
  (lambda ()
    (let loop ((i 1))
      (when (<= i n)
        (write (list name i)) (newline)
        (yield)
        (loop (+ i 1))))))

;; A mailbox: receivers wait until there is something.
(define mail '())
(define (send! x) (set! mail (append mail (list x))))
(define (receive!)
  (if (null? mail)
      (begin (yield) (receive!))
      (let ((x (car mail))) (set! mail (cdr mail)) x)))

(spawn (worker 'a 3))
(spawn (worker 'b 2))
(spawn (lambda () (let ((x (receive!))) (write (list 'got x)) (newline) (write (list 'got (receive!))) (newline))))
(spawn (lambda () (send! 'hello) (yield) (yield) (send! 'bye)))
(write (start)) (newline)
;=> (a 1)
;=> (b 1)
;=> (a 2)
;=> (b 2)
;=> (got hello)
;=> (a 3)
;=> (got bye)
;=> finished
