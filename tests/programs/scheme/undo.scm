;; An editor whose history is a list of closures that take changes back.
(import (scheme base) (scheme write))

(define (make-editor)
  (let ((text "") (undo '()) (redo '()))
    (define (change! new)
      (let ((old text))
        (set! text new)
        (lambda () (change! old))))
    (define (edit! f) (let ((back (change! (f text)))) (set! undo (cons back undo)) (set! redo '())))
    (lambda (command . args)
      (case command
        ((insert) (edit! (lambda (t) (string-append t (car args)))))
        ((map) (edit! (lambda (t) (string-map (car args) t))))
        ((undo)
         (unless (null? undo)
           (let ((back (car undo))) (set! undo (cdr undo)) (set! redo (cons (back) redo)))))
        ((redo)
         (unless (null? redo)
           (let ((forth (car redo))) (set! redo (cdr redo)) (set! undo (cons (forth) undo)))))
        ((text) text)))))
(define e (make-editor))
(define (show) (write (e 'text)) (newline))
(e 'insert "hello") (e 'insert " world") (show)
(e 'map (lambda (c) (if (char=? c #\o) #\0 c))) (show)
(e 'undo) (show)
(e 'undo) (show)
(e 'redo) (e 'redo) (e 'redo) (show)
(e 'undo) (e 'insert "!") (e 'redo) (show)
;=> "hello world"
;=> "hell0 w0rld"
;=> "hello world"
;=> "hello"
;=> "hell0 w0rld"
;=> "hello world!"
