"""A small file in each language whose syntax is known, and what is defined in it."""

from typing import Final

#: File name, source, symbols.
SAMPLES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        "ada.adb",
        """with Ada.Text_IO;
package body Space is
   -- doc
   type Point is record X : Integer; end record;
   function Top (A : Integer) return Integer is
   begin
      return A;
   end Top;
   procedure Sub is begin null; end Sub;
end Space;
""",
        ("Point", "Top", "Sub"),
    ),
    (
        "bash.sh",
        """#!/bin/bash
set -e
# Doc
top() {
  echo 1
}
function other {
  echo 2
}
top
""",
        ("top", "other"),
    ),
    (
        "c.c",
        """#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LIMIT 3
/* Doc. */
struct point { int x; };
typedef struct { int y; } named_t;
enum color { RED };
union u { int a; };
static int *top(int a, char **b) { return a; }
int declared(void);
int main(void) { return 0; }
#ifdef X
void inside(void) {}
#endif
""",
        ("MAX", "point", "named_t", "color", "u", "top", "declared", "main", "inside"),
    ),
    (
        "cpp.cpp",
        """#include <vector>
namespace a::b { namespace {
template <typename T>
class Box final : public Base<T> {
public:
  Box() = delete; ~Box();
  int value() const { return 1; }
  template <class... A> auto operator()(A&&... a) -> int;
  bool operator==(const Box&) const = default;
};
}}
struct Point { int x; };
void Box::out_of_line(int a) { }
template <typename T> T maximum(T a, T b) { return a; }
enum class Color { Red };
using Alias = int;
concept C = true;
extern "C" { void cfun() {} }
""",
        (
            "Box",
            "Box.Box",
            "Box.~Box",
            "Box.value",
            "Box.operator()",
            "Box.operator==",
            "Point",
            "Box.out_of_line",
            "maximum",
            "Color",
            "Alias",
            "C",
        ),
    ),
    (
        "csharp.cs",
        """using System;
namespace A.B {
  [Serializable]
  public class Outer<T> : Base {
    private int x = 1;
    public int Value { get; set; }
    public Outer() { }
    public int Run(int a) => a;
    ~Outer() { }
    public static Outer operator +(Outer a, Outer b) => a;
  }
  public interface IShape { double Area(); }
  public struct Point { }
  public enum Color { Red }
  public record Pair(int A, int B);
  public delegate void Handler(int a);
}
""",
        ("Outer", "Outer.Value", "Outer.Outer", "Outer.Run", "IShape", "IShape.Area", "Point", "Color", "Pair", "Handler"),
    ),
    (
        "css.css",
        """@import "a.css";
/* doc */
.a, #b > c { color: red; }
@media print { .d { color: blue; } }
@keyframes k { from { a: b } }
""",
        (),
    ),
    (
        "dart.dart",
        """import 'a.dart';
/// Doc
@immutable
class Outer<T> extends Base with M {
  final int x = 1;
  Outer(this.x);
  factory Outer.make() => Outer(1);
  int value() { return 1; }
  int get g => 1;
  static void st() {}
}
mixin M { void m() {} }
extension E on String { int e() => 1; }
enum Color { red }
int top(int a) { return a; }
typedef F = int Function();
abstract class A { void abs(); }
""",
        ("Outer", "Outer.Outer", "Outer.value", "Outer.g", "Outer.st", "M", "M.m", "E", "E.e", "Color", "top", "F", "A", "A.abs"),
    ),
    (
        "elixir.ex",
        """defmodule My.Space do
  @moduledoc "x"
  @doc "Doc"
  def value(a) when is_integer(a) do
    a
  end
  defp private(a), do: a
  defmacro mac(a) do a end
  defstruct [:a]
  defmodule Inner do
    def deep, do: 1
  end
end
defprotocol P do
  def size(a)
end
defimpl P, for: Map do
  def size(a), do: 1
end
""",
        ("My.Space", "My.Space.value", "My.Space.private", "My.Space.mac", "My.Space.Inner", "My.Space.Inner.deep", "P", "P.size"),
    ),
    (
        "fortran.f90",
        """module space
  implicit none
  type :: point
    real :: x
  end type
contains
  ! doc
  function top(a) result(r)
    integer :: a, r
    r = a
  end function top
  subroutine sub(a)
    integer :: a
  end subroutine
end module space
program main
  print *, 1
end program main
""",
        ("point", "top", "sub", "main"),
    ),
    (
        "go.go",
        """package main
import "fmt"
const Limit = 3
// Server doc.
type Server struct { name string }
type ( Alias = int
 Other interface { Do() } )
func (s *Server) Start(ctx context.Context) error { return nil }
func (s Gen[T]) Foo() {}
func top() {}
var x = 1
""",
        ("Server", "Alias", "Other", "Server.Start", "Gen.Foo", "top"),
    ),
    (
        "groovy.groovy",
        """package a.b

import c.d

/** Doc */
class Outer extends Base {
    def value() {
        return 1
    }
}

def top(String a) {
    return a
}
""",
        ("Outer", "Outer.value", "top"),
    ),
    (
        "haskell.hs",
        """module Main (main) where
import Data.List
-- | Doc
data Shape = Circle Double | Square
newtype N = N Int
type Alias = Int
class Area a where
  area :: a -> Double
instance Area Shape where
  area (Circle r) = r
top :: Int -> Int
top 0 = 1
top n = n
main = print 1
""",
        ("Shape", "N", "Alias", "Area", "area", "top", "main"),
    ),
    (
        "hcl.tf",
        """# doc
resource "aws_instance" "web" {
  ami = "x"
}
variable "a" { default = 1 }
locals { x = 1 }
""",
        ("aws_instance.web", "a", "locals"),
    ),
    (
        "java.java",
        """package a.b;
import java.util.List;
/** Doc. */
@Entity
public class Outer<T> extends B {
  private int x = 1;
  public Outer() { }
  @Override public int value() { return 1; }
  static class Inner { void deep() {} }
  enum Color { RED; int c() { return 1; } }
  record Pair(int a, int b) { }
}
interface Shape { double area(); }
@interface Ann { String value(); }
""",
        (
            "Outer",
            "Outer.Outer",
            "Outer.value",
            "Outer.Inner",
            "Outer.Inner.deep",
            "Outer.Color",
            "Outer.Color.c",
            "Outer.Pair",
            "Shape",
            "Shape.area",
            "Ann",
        ),
    ),
    (
        "javascript.js",
        """import a from "a";
/** Doc */
export class Outer extends B {
  #p = 1;
  value() { return 1; }
  static get x() { return 2; }
  arrow = () => { return 3; };
}
export default function top(a) { return a; }
function* gen() { yield 1; }
const arrow = async (a) => a;
exports.made = function () { return 1; };
module.exports = { inner() { return 1; } };
describe("x", () => { function nested() {} });
""",
        ("Outer", "Outer.value", "Outer.x", "Outer.arrow", "top", "gen", "arrow", "exports.made"),
    ),
    (
        "julia.jl",
        """module Space
using A
\"\"\"Doc\"\"\"
struct Point
  x::Int
end
abstract type Shape end
function top(a::Int)
  a
end
short(x) = x + 1
macro mac(e) e end
mutable struct M end
end
""",
        ("Point", "Shape", "top", "short", "mac", "M"),
    ),
    (
        "kotlin.kt",
        """package a.b

import c.d

/** Doc */
@Ann
class Outer<T>(val x: Int) : Base() {
    val y = 1

    fun value(): Int {
        return 1
    }

    companion object {
        fun make() = 1
    }
}

interface Shape {
    fun area(): Double
}

object Single {
    fun only() {
    }
}

fun String.ext(): Int = 1

typealias Alias = Int
""",
        ("Outer", "Outer.value", "Outer.companion", "Outer.companion.make", "Shape", "Shape.area", "Single", "Single.only", "ext", "Alias"),
    ),
    (
        "lua.lua",
        """local M = {}
-- doc
function M.value(a) return a end
function M:method() end
local function top() end
M.assigned = function() end
return M
""",
        ("M.value", "M.method", "top", "M.assigned"),
    ),
    (
        "makefile.mk",
        """CC = gcc
# doc
all: a b
\techo 1

.PHONY: all
define VAR
x
endef
%.o: %.c
\t$(CC)
""",
        ("all", "VAR", "%.o"),
    ),
    (
        "nix.nix",
        """{ pkgs, ... }:
let
  # doc
  top = a: a + 1;
in {
  packages = [ pkgs.git ];
  services.nginx = { enable = true; };
}
""",
        (),
    ),
    (
        "objective-c.m",
        """#import <Foundation/Foundation.h>
@interface Outer : NSObject
@property int x;
- (int)value:(int)a;
@end
@implementation Outer
- (int)value:(int)a { return a; }
+ (instancetype)make { return nil; }
@end
@protocol Shape
- (double)area;
@end
int top(int a) { return a; }
@implementation Outer (Cat)
- (void)cat { }
@end
""",
        ("Outer", "Outer.value", "Outer.make", "Shape", "Shape.area", "top", "Outer.cat"),
    ),
    (
        "ocaml.ml",
        """open List
(** Doc *)
type shape = Circle of float
module Inner = struct
  let deep x = x
end
let rec top a = a and other b = b
class c = object method m = 1 end
exception Bad
module type S = sig val x : int end
""",
        ("shape", "Inner", "Inner.deep", "top", "other", "c", "Bad", "S"),
    ),
    (
        "php.php",
        """<html>
<?php
namespace A\\B;
use C\\D;
/** Doc */
#[Attribute]
final class Outer extends Base {
  use T;
  const X = 1;
  private int $x = 1;
  public function value(): int { return 1; }
}
interface Shape { public function area(); }
trait Loud { function shout() {} }
enum Color { case Red; }
function top($a) { return $a; }
?>
</html>
""",
        ("Outer", "Outer.value", "Shape", "Shape.area", "Loud", "Loud.shout", "Color", "top"),
    ),
    (
        "powershell.ps1",
        """# doc
function Get-Value {
    param($a)
    return $a
}

class Outer {
    [int]$x

    [int] Value() {
        return 1
    }
}

enum Color {
    Red
}
""",
        ("Get-Value", "Outer", "Outer.Value", "Color"),
    ),
    (
        "python.py",
        """import os
LIMIT = 3
@decorator
class Outer(Base):
    \"\"\"Doc.\"\"\"
    x: int = 1
    @property
    def value(self): return 1
    async def run(self): pass
def top(a): return a
if True:
    def conditional(): ...
""",
        ("Outer", "Outer.value", "Outer.run", "top", "conditional"),
    ),
    (
        "ruby.rb",
        """require "a"
module Space
  # Doc
  class Outer < Base
    LIMIT = 1
    attr_reader :x
    def value
      1
    end
    def self.make; end
    class << self
      def single; end
    end
  end
end
def top(a) = a
""",
        ("Space", "Space.Outer", "Space.Outer.value", "Space.Outer.make", "Space.Outer.single", "top"),
    ),
    (
        "rust.rs",
        """use std::fmt;
const LIMIT: u32 = 3;
/// Doc.
#[derive(Debug)]
pub struct Point { x: f64 }
pub enum Color { Red }
pub trait Shape { fn area(&self) -> f64; fn d(&self) -> u8 { 1 } }
impl Shape for Point { fn area(&self) -> f64 { 0.0 } }
impl<T> Gen<T> { pub fn new() -> Self { x } }
mod tests { #[test] fn works() {} }
macro_rules! mac { () => {} }
type Alias = u8;
static S: u8 = 1;
union U { a: u8 }
""",
        ("LIMIT", "Point", "Color", "Shape", "Shape.area", "Shape.d", "Point.area", "Gen.new", "works", "mac", "Alias", "S", "U"),
    ),
    (
        "scala.scala",
        """package a.b
import c.d
/** Doc */
@ann class Outer[T](x: Int) extends Base {
  val y = 1
  def value: Int = 1
}
trait Shape { def area: Double }
object Single { def only() = 1 }
case class Pair(a: Int)
enum Color { case Red }
def top(a: Int) = a
type Alias = Int
""",
        ("Outer", "Outer.value", "Shape", "Shape.area", "Single", "Single.only", "Pair", "Color", "top", "Alias"),
    ),
    (
        "sql.sql",
        """-- doc
CREATE TABLE a.users (id INT PRIMARY KEY);
CREATE VIEW v AS SELECT 1;
CREATE INDEX i ON users (id);
CREATE FUNCTION f(a INT) RETURNS INT AS $$ SELECT 1; $$ LANGUAGE sql;
INSERT INTO users VALUES (1);
SELECT * FROM users WHERE id = 1;
""",
        ("a.users", "v", "i", "f"),
    ),
    (
        "starlark.bzl",
        """load("a", "b")
# doc
def _impl(ctx):
    return 1
rule_x = rule(implementation = _impl)
""",
        ("_impl",),
    ),
    (
        "swift.swift",
        """import Foundation
/// Doc
@objc public class Outer: Base {
  var x = 1
  init() { }
  deinit { }
  func value() -> Int { return 1 }
  struct Inner { func deep() {} }
}
protocol Shape { func area() -> Double }
extension Outer: Shape { func area() -> Double { 1 } }
enum Color { case red }
struct Point { var x: Int }
func top(a: Int) -> Int { a }
typealias Alias = Int
actor Act { func go() {} }
""",
        (
            "Outer",
            "Outer.init",
            "Outer.deinit",
            "Outer.value",
            "Outer.Inner",
            "Outer.Inner.deep",
            "Shape",
            "Shape.area",
            "Outer.area",
            "Color",
            "Point",
            "top",
            "Alias",
            "Act",
            "Act.go",
        ),
    ),
    (
        "typescript.ts",
        """import { a } from "a";
@Injectable()
export class Outer<T> implements B {
  private x: number = 1;
  @Input() value(): number { return 1; }
  abstract foo(): void;
}
export abstract class Abs { abstract f(): void; }
export interface Shape { area(): number; side: number; }
export type Alias = string | number;
export enum Color { Red, Green }
namespace Space { export function inside() {} }
export const top = <T,>(a: T): T => a;
declare function declared(): void;
declare module "foo" { export function bar(): void; }
""",
        ("Outer", "Outer.value", "Outer.foo", "Abs", "Abs.f", "Shape", "Shape.area", "Alias", "Color", "inside", "top", "declared", "bar"),
    ),
    (
        "typescript.tsx",
        """export function App(props: Props) { return <div className="a">{props.x}</div>; }
const B: React.FC = () => <><App x={1}/></>;
""",
        ("App", "B"),
    ),
    (
        "vhdl.vhd",
        """library ieee;
use ieee.std_logic_1164.all;
-- doc
entity top is port (a : in std_logic); end entity;
architecture rtl of top is
begin
  p1 : process (a) begin end process;
end architecture;
package pk is function f(a : integer) return integer; end package;
""",
        ("top", "rtl"),
    ),
    (
        "zig.zig",
        """const std = @import("std");
/// Doc
pub const Point = struct {
    x: f64,
    pub fn area(self: Point) f64 { return 1; }
};
pub fn top(a: u32) u32 { return a; }
test "works" { }
""",
        ("Point", "Point.area", "top", "works"),
    ),
)
