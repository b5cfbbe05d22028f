/** What is wrong with a regular expression in the notation that notifications are matched by, and where: undefined if nothing. */
export function complaintOfPattern(pattern: string): string | undefined {
  const found = firstFault([...pattern])
  if (found === undefined) return undefined
  const mark = `${' '.repeat(4 + found.at)}${'^'.repeat(found.width)}`
  return `regex parse error:\n    ${pattern}\n${mark}\nerror: ${found.why}`
}

interface PatternFault {
  readonly at: number
  readonly width: number
  readonly why: string
}

const LOOK_AROUND = 'look-around, including look-ahead and look-behind, is not supported'
const ESCAPES = /[\\.+*?()|[\]{}^$#&\-~/"'<>!%,:;=@_` aftnrvAzbBdDsSwWpPxuUQE0-9]/

function firstFault(letters: readonly string[]): PatternFault | undefined {
  const open: number[] = []
  // Whether something stands before a repetition that it can repeat.
  let repeatable = false
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? ''
    const fault = (why: string, width = 1): PatternFault => ({ at, width, why })
    if (letter === '\\') {
      const next = letters[at + 1]
      if (next === undefined) return fault('incomplete escape sequence, reached end of pattern prematurely')
      if (/[0-9]/.test(next)) return fault('backreferences are not supported', 2)
      if (!ESCAPES.test(next)) return fault('unrecognized escape sequence', 2)
      at += 1
      repeatable = true
    } else if (letter === '[') {
      const end = endOfClass(letters, at)
      if (end === undefined) return fault('unclosed character class')
      at = end
      repeatable = true
    } else if (letter === '(') {
      const head = letters.slice(at, at + 4).join('')
      const look = /^\(\?(?:<?[=!])/.exec(head)?.[0]
      if (look !== undefined) return fault(LOOK_AROUND, look.length)
      open.push(at)
      at += groupHead(letters.slice(at + 1).join('')).length
      repeatable = false
    } else if (letter === ')') {
      if (open.pop() === undefined) return fault('unopened group')
      repeatable = true
    } else if ('*+?{'.includes(letter)) {
      if (!repeatable) return fault('repetition operator missing expression')
      if (letter === '{') {
        const counted = /^\{\s*(\d+)\s*(?:,\s*(\d+)?\s*)?\}/.exec(letters.slice(at).join(''))
        if (counted === null) return badCount(letters, at)
        if (counted[2] !== undefined && Number(counted[1]) > Number(counted[2]))
          return fault('invalid repetition count range, the start must be <= the end', counted[0].length)
        at += counted[0].length - 1
      }
    } else repeatable = letter !== '|'
  }
  const last = open.at(-1)
  return last === undefined ? undefined : { at: last, width: 1, why: 'unclosed group' }
}

/** The flags or the name at the beginning of a group. */
function groupHead(rest: string): string {
  return /^\?(?:P?<[A-Za-z_][\w.[\]]*>|[a-zA-Z-]*:?)/.exec(rest)?.[0] ?? ''
}

function endOfClass(letters: readonly string[], start: number): number | undefined {
  let at = start + 1
  if (letters[at] === '^') at += 1
  if (letters[at] === ']') at += 1
  for (; at < letters.length; at += 1) {
    if (letters[at] === '\\') at += 1
    else if (letters[at] === '[') at = endOfClass(letters, at) ?? letters.length
    else if (letters[at] === ']') return at
  }
  return undefined
}

function badCount(letters: readonly string[], at: number): PatternFault {
  const digits = /^\{\s*\d/.test(letters.slice(at).join(''))
  return digits
    ? { at, width: letters.length - at, why: 'unclosed counted repetition' }
    : { at: at + 1, width: 1, why: 'repetition quantifier expects a valid decimal' }
}
