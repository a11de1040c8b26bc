// SPDX-License-Identifier: BSD-3-Clause
//
// Nbc.g4 - the words and sentences of the language. dsl/LANGUAGE.md says what they mean.
//
// Written so that one token decides nearly every branch: ANTLR then makes plain switches of it.
// What repeats is a loop and not a recursion, so only brackets, blocks and `if` inside `if` make the
// parser go deeper; dsl/parse.cpp counts those (rules expression, block) and stops. What is easier to
// say well in words is let through here and refused there: a < b < c, `else` after `else`.

grammar Nbc;

file: (importFile | function | ownCollective | algorithm)* EOF;

importFile: IMPORT path=STRING SEMI;

function: FN name=NAME LPAREN (NAME (COMMA NAME)*)? RPAREN ASSIGN expression SEMI;

algorithm
  : kind=(NAME | REDUCE) name=NAME (LPAREN (parameter (COMMA parameter)*)? RPAREN)? clause* block;

parameter: NAME (ASSIGN expression)?;

ownCollective: COLLECTIVE NAME LBRACE property* ENSURES block RBRACE;

// `root;`, `in blocks[2] at root;`: those words are names elsewhere.
property: (NAME | IN) (shape=NAME (LBRACKET expression RBRACKET)? (at=NAME where=NAME)?)? SEMI;

clause
  : REQUIRES expression (COMMA expression)*  # requirements
  | CLAIMS claim (COMMA claim)*              # claims
  ;

claim: NAME (compare expression)?;

block: LBRACE statement* RBRACE;

statement
  : ROUND block                                                          # round
  | SEND section TO expression port? SEMI                                # send
  | RECV section FROM expression port? SEMI                              # recv
  | EXCHANGE section ARROW section WITH expression port? SEMI            # exchange
  | SIGNAL expression port? SEMI                                         # signal
  | AWAIT expression port? SEMI                                          # await
  | COPY section ARROW section SEMI                                      # copy
  | REDUCE section COMMA section ARROW section SEMI                      # reduce
  | SCRATCH NAME (LBRACKET scratchSize RBRACKET)? LIKE section SEMI      # scratch
  | SPLIT section INTO expression AS NAME SEMI                           # split
  | LET NAME ASSIGN expression SEMI                                      # let
  | FOR NAME (IN range condition? | ASSIGN loop) block                   # for
  | IF expression block (ELSE (IF expression)? block)*                   # if
  | GROUP NAME (LBRACKET NAME IN range RBRACKET)? ASSIGN (set | expression) SEMI  # group
  | RUN kind=(NAME | REDUCE) DOT name=NAME arguments?
      (AMONG expression)? (WITH binding (COMMA binding)*)? SEMI          # run
  | section EQ REDUCE? section OF (set | expression) SEMI                # promise
  ;

arguments: LPAREN (argument (COMMA argument)*)? RPAREN;

argument: NAME ASSIGN expression;

binding: (NAME | IN) (LBRACKET NAME RBRACKET)? ASSIGN section;

set: LBRACE NAME IN range (COLON expression)? RBRACE;

port: ON PORT expression;

condition: IF expression;

loop: expression SEMI expression SEMI NAME (ADDTO | SUBFROM | MULTO | DIVTO) expression;

scratchSize: expression (IN range)?;  // with `in`, the expression is a name

range: expression (UPTO | BELOW) expression;

section: (NAME | IN) (LBRACKET selector RBRACKET)?;

selector
  : expression (PLUSRANGE expression)?  # elements
  | set                                 # chosen
  ;

// Loosest first.
expression: (IF expression THEN expression ELSE)* (fold | disjunction);
fold: FOLD NAME ASSIGN expression FOR NAME IN range condition? COLON expression;
disjunction: conjunction (OR conjunction)*;
conjunction: negation (AND negation)*;
negation: NOT* comparison;
comparison: exclusive (compare exclusive)*;
exclusive: sum (XOR sum)*;
sum: product ((PLUS | MINUS) product)*;
product: unary ((TIMES | DIVIDE | MOD) unary)*;
unary: MINUS* primary;
primary
  : INTEGER                                                  # integer
  | (TRUE | FALSE)                                           # boolean
  | NAME (LPAREN (expression (COMMA expression)*)? RPAREN
         | LBRACKET expression RBRACKET)?                    # named
  | LPAREN expression RPAREN                                 # brackets
  ;

compare: LT | LE | GT | GE | EQ | NE;

AMONG: 'among';
AND: 'and';
AS: 'as';
AWAIT: 'await';
CLAIMS: 'claims';
COLLECTIVE: 'collective';
COPY: 'copy';
ELSE: 'else';
ENSURES: 'ensures';
EXCHANGE: 'exchange';
FALSE: 'false';
FN: 'fn';
FOLD: 'fold';
FOR: 'for';
FROM: 'from';
GROUP: 'group';
IF: 'if';
IMPORT: 'import';
IN: 'in';
INTO: 'into';
LET: 'let';
LIKE: 'like';
MOD: 'mod';
NOT: 'not';
OF: 'of';
ON: 'on';
OR: 'or';
PORT: 'port';
RECV: 'recv';
REDUCE: 'reduce';
REQUIRES: 'requires';
ROUND: 'round';
RUN: 'run';
SCRATCH: 'scratch';
SEND: 'send';
SIGNAL: 'signal';
SPLIT: 'split';
THEN: 'then';
TO: 'to';
TRUE: 'true';
WITH: 'with';
XOR: 'xor';

ARROW: '->';
LE: '<=';
GE: '>=';
EQ: '==';
NE: '!=';
LT: '<';
GT: '>';
ASSIGN: '=';
ADDTO: '+=';
SUBFROM: '-=';
MULTO: '*=';
DIVTO: '/=';
PLUSRANGE: '+:';
UPTO: '..';
BELOW: '..<';
PLUS: '+';
MINUS: '-';
TIMES: '*';
DIVIDE: '/';
LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';
COMMA: ',';
SEMI: ';';
COLON: ':';
DOT: '.';

NAME: [A-Za-z_] [A-Za-z0-9_]*;
INTEGER: [0-9]+;
STRING: '"' ~["\r\n]* '"';

SPACE: [ \t\r\n]+ -> skip;
LINE_COMMENT: '//' ~[\n]* -> channel(HIDDEN);  // the parser does not see it, the formatter does
COMMENT: '/*' (~'*' | '*'+ ~[*/])* '*'+ '/' -> channel(HIDDEN);

// What is wrong: parse() reports these and goes no further. Each takes all it can, so that a large
// file of them is still read in one walk.
OPEN_COMMENT: '/*' (~'*' | '*'+ ~[*/])* '*'*;
OPEN_STRING: '"' ~["\r\n]*;
BAD_NUMBER: [0-9]+ [A-Za-z_] [A-Za-z0-9_]*;
UNKNOWN: .;
