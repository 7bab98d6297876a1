;; Runs a program under guile and writes whom its calls reached, a line each, to a file:
;;   call LINE COLUMN LINE COLUMN   a call and the lambda, or clause, that was entered
;;   enter LINE COLUMN              a lambda that a primitive called
;;   named LINE COLUMN NAME         a call and the procedure of guile's own that it called
;; guile expands every form; in what comes out, each call of the program goes through `traced-call`,
;; each lambda through `made`, and each body begins with `entered`. Usage: trace.scm PROGRAM FILE
(define-module (trace)
  #:use-module (language tree-il)
  #:use-module (system base compile))

(define lambdas (make-weak-key-hash-table))
(define seen (make-hash-table))
(define pending #f)  ; the call that is about to enter one of the program's lambdas

(define (note! . what) (hash-set! seen what #t))

(define (made closure) (hashq-set! lambdas closure #t) closure)

(define (takes? f n)
  (let ((arity (procedure-minimum-arity f)))
    (and (>= n (car arity)) (or (caddr arity) (<= n (+ (car arity) (cadr arity)))))))

(define (traced-call site f . arguments)
  (cond ((and (hashq-ref lambdas f) (takes? f (length arguments))) (set! pending site))
        (else (set! pending #f)
              (when (and (procedure? f) (procedure-name f))
                (note! 'named (car site) (cdr site) (procedure-name f)))))
  (apply f arguments))

(define (entered place)
  (if pending
      (note! 'call (car pending) (cdr pending) (car place) (cdr place))
      (note! 'enter (car place) (cdr place)))
  (set! pending #f))

(define (place-of src file)
  (and (vector? src)
       (equal? (vector-ref src 0) file)
       (cons (+ 1 (vector-ref src 1)) (+ 1 (vector-ref src 2)))))

(define (help name) (make-module-ref #f '(trace) name #f))

(define (with-entry clause file)
  (and clause
       (let ((place (place-of (lambda-case-src clause) file)))
         (make-lambda-case
          (lambda-case-src clause) (lambda-case-req clause) (lambda-case-opt clause)
          (lambda-case-rest clause) (lambda-case-kw clause) (lambda-case-inits clause)
          (lambda-case-gensyms clause)
          (if place
              (make-seq #f (make-call #f (help 'entered) (list (make-const #f place)))
                        (lambda-case-body clause))
              (lambda-case-body clause))
          (with-entry (lambda-case-alternate clause) file)))))

(define (instrumented tree file)
  (post-order
   (lambda (x)
     (cond ((and (call? x) (place-of (call-src x) file))
            => (lambda (site)
                 (make-call (call-src x) (help 'traced-call)
                            (cons* (make-const #f site) (call-proc x) (call-args x)))))
           ((and (lambda? x) (lambda-body x) (place-of (lambda-src x) file))
            (make-call #f (help 'made)
                       (list (make-lambda (lambda-src x) (lambda-meta x)
                                          (with-entry (lambda-body x) file)))))
           (else x)))
   tree))

(define (run file)
  (call-with-input-file file
    (lambda (port)
      (set-port-encoding! port "UTF-8")
      (let loop ()
        (let ((form (read-syntax port)))
          (unless (eof-object? form)
            (let ((tree (macroexpand form)))
              (set! pending #f)
              (compile (instrumented tree file) #:from 'tree-il #:to 'value #:opts '(#:O 0)
                       #:env (current-module)))
            (loop)))))))

(define (write-seen file)
  (call-with-output-file file
    (lambda (port)
      (hash-for-each (lambda (what _)
                       (for-each (lambda (part) (display part port) (display " " port)) what)
                       (newline port))
                     seen))))

(let ((program (cadr (command-line))) (file (caddr (command-line))))
  (set-current-module (make-fresh-user-module))
  (dynamic-wind
    (lambda () #f)
    (lambda () (catch #t (lambda () (run program)) (lambda what (write what (current-error-port)))))
    (lambda () (set-current-module (resolve-module '(trace))) (write-seen file))))
