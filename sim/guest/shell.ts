import type { Commands, Io, Session } from './commands.ts'

/**
 * A small shell: lists (`;`, `&&`, `||`), pipes, quotes, variables, sums, redirections, `while` and `if`. Enough for
 * what administration programs send; not for scripts that people are proud of.
 */
export function runScript(
  text: string,
  session: Session,
  commands: Commands,
  input = '',
  words: readonly string[] = [],
): void {
  const tokens = tokenize(text)
  const vars = new Map([['?', '0'], ...words.map((word, at): [string, string] => [`${at}`, word])])
  const state: State = { tokens, at: 0, session, commands, steps: 0, vars }
  const done = block(state, [], true, input)
  session.out += done.out
  session.err += done.err
  if (session.exit === undefined) session.exit = done.code
}

/** A script that would go on for ever is stopped. */
const MOST_STEPS = 20_000

interface State {
  readonly tokens: readonly Token[]
  at: number
  readonly session: Session
  readonly commands: Commands
  steps: number
  readonly vars: Map<string, string>
}

interface Token {
  readonly text: string
  readonly operator: boolean
}

interface Done {
  readonly out: string
  readonly err: string
  readonly code: number
}

const NOTHING: Done = { out: '', err: '', code: 0 }

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const pattern =
    /[ \t\r]*(?:(#[^\n]*)|(\n|&&|\|\||;;?|\||2>&1|>&2|2>>|2>|>>|>|<)|((?:\$\(\([^)]*\)\)|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;|&<>"'\\])+))/gy
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match[2] !== undefined) tokens.push({ text: match[2] === '\n' ? ';' : match[2], operator: true })
    else if (match[3] !== undefined) tokens.push({ text: match[3], operator: false })
  }
  return tokens
}

/** Runs until one of the words, which is not taken. Without `live` it is only read. */
function block(state: State, until: readonly string[], live: boolean, input: string): Done {
  let [out, err, code] = ['', '', 0]
  let runs = live
  while (state.at < state.tokens.length && !stops(state, until)) {
    if (isOperator(state, ';')) {
      state.at += 1
      runs = live
      continue
    }
    const done = pipeline(state, runs && state.session.exit === undefined && state.session.signal === undefined, input)
    out += done.out
    err += done.err
    if (runs) code = done.code
    if (runs) state.vars.set('?', `${code}`)
    const next = state.tokens[state.at]
    if (next?.operator && (next.text === '&&' || next.text === '||')) {
      state.at += 1
      runs = live && (next.text === '&&') === (code === 0)
    }
  }
  return { out, err, code }
}

function stops(state: State, until: readonly string[]): boolean {
  const token = state.tokens[state.at]
  return token !== undefined && !token.operator && until.includes(token.text)
}

function isOperator(state: State, text: string): boolean {
  const token = state.tokens[state.at]
  return token?.operator === true && token.text === text
}

function pipeline(state: State, live: boolean, input: string): Done {
  let done = command(state, live, input)
  while (isOperator(state, '|')) {
    state.at += 1
    const next = command(state, live, done.out)
    done = { ...next, err: done.err + next.err }
  }
  return done
}

function command(state: State, live: boolean, input: string): Done {
  if (stops(state, ['while'])) return whileLoop(state, live, input)
  if (stops(state, ['if'])) return condition(state, live, input)
  return simple(state, live, input)
}

function whileLoop(state: State, live: boolean, input: string): Done {
  state.at += 1
  const start = state.at
  let [out, err] = ['', '']
  for (;;) {
    state.at = start
    const test = block(state, ['do'], live, input)
    state.at += 1
    const goesOn = live && test.code === 0 && state.session.exit === undefined && state.steps < MOST_STEPS
    const body = block(state, ['done'], goesOn, input)
    state.at += 1
    out += body.out
    err += body.err
    if (!goesOn) return { out, err, code: 0 }
  }
}

function condition(state: State, live: boolean, input: string): Done {
  state.at += 1
  const test = block(state, ['then'], live, input)
  state.at += 1
  const yes = live && test.code === 0
  const first = block(state, ['else', 'fi'], yes, input)
  let second = NOTHING
  if (stops(state, ['else'])) {
    state.at += 1
    second = block(state, ['fi'], live && !yes, input)
  }
  state.at += 1
  const taken = yes ? first : second
  return { out: test.out + taken.out, err: test.err + taken.err, code: taken.code }
}

/** Words up to the next operator, with where their output goes. */
function simple(state: State, live: boolean, input: string): Done {
  const words: string[] = []
  const redirects: { kind: string; target: string }[] = []
  while (state.at < state.tokens.length) {
    const token = state.tokens[state.at]
    if (token === undefined) break
    if (token.operator && [';', '&&', '||', '|'].includes(token.text)) break
    state.at += 1
    if (!token.operator) words.push(token.text)
    else if (token.text === '>&2' || token.text === '2>&1') redirects.push({ kind: token.text, target: '' })
    else redirects.push({ kind: token.text, target: expand(state, state.tokens[state.at++]?.text ?? '') })
  }
  if (!live || words.length === 0) return NOTHING
  state.steps += 1
  const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[0] ?? '')
  if (assignment !== null && words.length === 1) {
    state.vars.set(assignment[1] ?? '', expand(state, assignment[2] ?? ''))
    return NOTHING
  }
  const source = redirects.find(({ kind }) => kind === '<')?.target
  const io: Io = {
    input: source === undefined ? input : (state.session.machine.files.text(source) ?? ''),
    args: words.map((word) => expand(state, word)),
  }
  const program = (io.args[0] ?? '').replace(/^.*\//, '')
  const run = state.commands.get(program)
  if (run === undefined) {
    return redirected(state, { out: '', err: `sh: 1: ${io.args[0]}: not found\n`, code: 127 }, redirects)
  }
  const result = run(io, state.session)
  return redirected(state, { out: result.out ?? '', err: result.err ?? '', code: result.code ?? 0 }, redirects)
}

function redirected(state: State, done: Done, redirects: readonly { kind: string; target: string }[]): Done {
  let { out, err } = done
  const { files } = state.session.machine
  const put = (target: string, text: string, append: boolean) => {
    if (target === '/dev/null') return
    // Here a character is a byte, unless it is none that a byte can be.
    const whole = (append ? (files.text(target) ?? '') : '') + text
    files.write(target, /[^\x00-\xff]/.test(whole) ? whole : Buffer.from(whole, 'latin1'))
  }
  for (const { kind, target } of redirects) {
    if (kind === '>&2') [out, err] = ['', err + out]
    else if (kind === '2>&1') [out, err] = [out + err, '']
    else if (kind === '>' || kind === '>>') {
      put(target, out, kind === '>>')
      out = ''
    } else if (kind === '2>' || kind === '2>>') {
      put(target, err, kind === '2>>')
      err = ''
    }
  }
  return { out, err, code: done.code }
}

/** Takes quotes off and puts values in: `"$x"`, `${x}`, `$((x + 1))`, `$$`. */
function expand(state: State, word: string): string {
  const parts = word.match(/\$\(\([^)]*\)\)|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^"'\\$]+|\$[$?]|\$\{?\w*\}?|\$/gs) ?? []
  return parts
    .map((part) => {
      if (part.startsWith("'")) return part.slice(1, -1)
      if (part.startsWith('"')) return withValues(state, part.slice(1, -1)).replace(/\\(["\\$`])/g, '$1')
      if (part.startsWith('\\')) return part.slice(1)
      return withValues(state, part)
    })
    .join('')
}

function withValues(state: State, text: string): string {
  return text
    .replace(/\$\(\(([^)]*)\)\)/g, (_, sum: string) => `${arithmetic(state, sum)}`)
    .replace(/\$\$/g, `${state.session.pid}`)
    .replace(/\$\?/g, state.vars.get('?') ?? '0')
    .replace(/\$\{(\w+)\}|\$([A-Za-z_]\w*|\d)/g, (_, a?: string, b?: string) => state.vars.get(a ?? b ?? '') ?? '')
}

/** Numbers and variables with + - * between them, from left to right. */
function arithmetic(state: State, text: string): number {
  const value = (name: string) => (/^-?\d+$/.test(name) ? Number(name) : Number(state.vars.get(name) ?? 0))
  const parts = text.match(/[A-Za-z_]\w*|\d+|[+\-*]/g) ?? []
  let [result, operator, expectsValue] = [0, '+', true]
  for (const part of parts) {
    if (/^[+\-*]$/.test(part)) {
      operator = part
      expectsValue = true
      continue
    }
    // Two values in a row are added.
    const number = value(part)
    const how = expectsValue ? operator : '+'
    result = how === '*' ? result * number : how === '-' ? result - number : result + number
    operator = '+'
    expectsValue = false
  }
  return result
}
