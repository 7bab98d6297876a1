;; A small shop: pricing rules are procedures, chosen by name and kept in a table.
(define (full price) price)
(define (half price) (quotient price 2))
(define (minus amount) (lambda (price) (- price amount)))

(define rules (list (cons 'new full) (cons 'old half)))
(define (add-rule! name rule)
  (set! rules (cons (cons name rule) rules)))

(define (both first second)
  (lambda (price) (second (first price))))

(define (price-of item kind)
  (let ((rule (assq kind rules)))
    (if rule
        ((cdr rule) (cdr item))
        (error "no such rule" kind))))

(define (gift price) 0)

(add-rule! 'sale (both half (minus 1)))
(for-each (lambda (item) (display (price-of item 'sale)) (newline))
          (list (cons 'cup 12) (cons 'pot 30)))
