;; dynamic-wind with exits, re-entries and conditions.
(import (scheme base) (scheme write))

(define trace '())
(define (note x) (set! trace (cons x trace)))
(define (show) (write (reverse trace)) (newline) (set! trace '()))

(dynamic-wind (lambda () (note 'in)) (lambda () (note 'body)) (lambda () (note 'out)))
(show)

(call/cc (lambda (k)
  (dynamic-wind
    (lambda () (note 'in1))
    (lambda ()
      (dynamic-wind (lambda () (note 'in2)) (lambda () (k 'left)) (lambda () (note 'out2))))
    (lambda () (note 'out1)))))
(show)

;; Entering again: the before thunks run again.
(define back #f)
(define times 0)
(let ()
  (dynamic-wind
    (lambda () (note 'enter))
    (lambda () (call/cc (lambda (k) (set! back k))) (note 'inside))
    (lambda () (note 'leave)))
  (set! times (+ times 1))
  (if (< times 3) (back #f)))
(show)

(write (guard (e (#t (note 'handler) (list 'caught e)))
  (dynamic-wind (lambda () (note 'b)) (lambda () (raise 'oops)) (lambda () (note 'a)))))
(show)

;; A guard that does not want it raises it again, inside.
(write (guard (outer ((symbol? outer) (note 'outer) (list 'outer outer)))
  (guard (inner ((string? inner) 'string))
    (note 'body)
    (raise 'sym))))
(show)

;; Jumping between two sides of a tree of winds.
(define left-k #f)
(define count 0)
(dynamic-wind
  (lambda () (note 'root-in))
  (lambda ()
    (dynamic-wind (lambda () (note 'left-in))
                  (lambda () (call/cc (lambda (k) (set! left-k k))) (note 'left))
                  (lambda () (note 'left-out)))
    (dynamic-wind (lambda () (note 'right-in))
                  (lambda () (set! count (+ count 1)) (if (= count 1) (left-k #f)) (note 'right))
                  (lambda () (note 'right-out))))
  (lambda () (note 'root-out)))
(show)
;=> (in body out)
;=> (in1 in2 out2 out1)
;=> (enter inside leave enter inside leave enter inside leave)
;=> (caught oops)(b a handler)
;=> (outer sym)(body outer)
;=> (root-in left-in left left-out right-in right-out left-in left left-out right-in right right-out root-out)
