;; An event loop: handlers by name, timers in order of time, handlers that add handlers.
(import (scheme base) (scheme write))

(define handlers '())
(define (on event handler)
  (let ((entry (assq event handlers)))
    (if entry
        (set-cdr! entry (append (cdr entry) (list handler)))
        (set! handlers (cons (list event handler) handlers)))))
(define (emit event . data)
  (let ((entry (assq event handlers)))
    (if entry (for-each (lambda (handler) (apply handler data)) (cdr entry)))))

(define timers '())
(define now 0)
(define (after delay thunk)
  (let ((due (+ now delay)))
    (set! timers
      (let insert ((timers timers))
        (if (or (null? timers) (< due (caar timers)))
            (cons (cons due thunk) timers)
            (cons (car timers) (insert (cdr timers))))))))
(define (run)
  (if (pair? timers)
      (let ((timer (car timers)))
        (set! timers (cdr timers))
        (set! now (car timer))
        ((cdr timer))
        (run))))

(define (log . parts)
  (display now) (for-each (lambda (part) (display " ") (display part)) parts) (newline))

(on 'tick (lambda (n) (log 'tick n)))
(on 'tick (lambda (n) (if (< n 3) (after 10 (lambda () (emit 'tick (+ n 1)))))))
(on 'stop (lambda () (log 'stopped)))
(on 'once (let ((seen #f)) (lambda (x) (if seen (log 'again x) (begin (set! seen #t) (log 'first x))))))
(after 5 (lambda () (emit 'tick 1)))
(after 12 (lambda () (emit 'once 'a) (emit 'once 'b)))
(after 100 (lambda () (emit 'stop)))
(emit 'nobody)
(run)
;=> 5 tick 1
;=> 12 first a
;=> 12 again b
;=> 15 tick 2
;=> 25 tick 3
;=> 100 stopped
