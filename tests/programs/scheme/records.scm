;; Records with procedures in their fields.
(import (scheme base) (scheme write))

(define-record-type shape
  (make-shape name area scale)
  shape?
  (name shape-name)
  (area shape-area set-shape-area!)
  (scale shape-scale))

(define (circle r) (make-shape 'circle (lambda () (* 3 r r)) (lambda (k) (circle (* k r)))))
(define (square a) (make-shape 'square (lambda () (* a a)) (lambda (k) (square (* k a)))))
(define shapes (list (circle 1) (square 2) ((shape-scale (circle 1)) 3)))

(for-each
  (lambda (s) (write (shape-name s)) (display " ") (write ((shape-area s))) (newline))
  shapes)
(set-shape-area! (car shapes) (lambda () 'unknown))
(write ((shape-area (car shapes)))) (newline)
(write (map shape? (list (car shapes) 5 'x))) (newline)

(define-record-type <node> (node value) node? (value node-value) (next node-next set-node-next!))
(define a (node 1))
(define b (node 2))
(set-node-next! a b)
(set-node-next! b a)
(write (node-value (node-next (node-next (node-next a))))) (newline)
(write (guard (e (#t 'wrong-type)) (node-value 'none))) (newline)
(write (guard (e (#t 'wrong-type)) (node-value (car shapes)))) (newline)
;=> circle 3
;=> square 4
;=> circle 27
;=> unknown
;=> (#t #f #f)
;=> 2
;=> wrong-type
;=> wrong-type
