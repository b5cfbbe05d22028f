import type * as Cel from '@bufbuild/cel'

/** Functions on texts that Kubernetes and kro add to those of CEL itself. */
export function stringFunctions({ celMethod, CelScalar, listType }: typeof Cel): readonly Cel.CelFunc[] {
  const { STRING, INT } = CelScalar
  const texts = listType(STRING)
  const letters = (text: string, range: RegExp, change: (letter: string) => string) => text.replaceAll(range, change)
  const joined = (list: Iterable<unknown>, between: string) => [...list].map(String).join(between)
  return [
    celMethod('lowerAscii', STRING, [], STRING, function () {
      return letters(this, /[A-Z]/g, (letter) => letter.toLowerCase())
    }),
    celMethod('upperAscii', STRING, [], STRING, function () {
      return letters(this, /[a-z]/g, (letter) => letter.toUpperCase())
    }),
    celMethod('trim', STRING, [], STRING, function () {
      return this.trim()
    }),
    celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
      return this.replaceAll(from, () => to)
    }),
    celMethod('split', STRING, [STRING], texts, function (between) {
      return this.split(between)
    }),
    celMethod('indexOf', STRING, [STRING], INT, function (text) {
      return BigInt(this.indexOf(text))
    }),
    celMethod('substring', STRING, [INT], STRING, function (from) {
      return cut(this, Number(from), this.length)
    }),
    celMethod('substring', STRING, [INT, INT], STRING, function (from, to) {
      return cut(this, Number(from), Number(to))
    }),
    celMethod('join', texts, [], STRING, function () {
      return joined(this, '')
    }),
    celMethod('join', texts, [STRING], STRING, function (between) {
      return joined(this, between)
    }),
  ]
}

function cut(text: string, from: number, to: number): string {
  if (from < 0 || to > text.length || from > to)
    throw new Error(`substring(${from}, ${to}) of ${text.length} characters`)
  return text.slice(from, to)
}
