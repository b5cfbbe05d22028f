import { namesSecret } from './secret-name.ts'

/** A line of a multi-line secret: `maskManifest` drops it, an excerpt shows `***`. */
export const SWALLOWED = '\u0000'

/** Matches texts that may contain a secret; nearly all others pass after this one test. */
const SUSPECT =
  /pass|pwd|psk|secret|token|credential|key|authorization|bearer|jwt|cookie|-----BEGIN|:\/\/|K10|eyJ|\$(?:\d|2[aby]|y|argon2)|gh[pousr]_|github_pat|glpat|xox|hvs\.|sk-|hooks\.slack|-u |--user|!/i

const PEM =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$(?![\s\S]))/g

/** Secrets recognised by their form. The first group stays. */
const SHAPES: readonly RegExp[] = [
  // user:password@host, or a token as the user.
  /(:\/\/[^\s/:@"']{0,300}:)[^\s/"']+(?=@)/g,
  /(:\/\/)(?=[A-Za-z_]*\d)[\w-]{20,}(?=@)/g,
  /(\bauthorization["']?\s{0,8}[:=]\s{0,8}["']?)(?:(?:Bearer|Basic|Token|Digest)\s+)?[^\s"',]+/gi,
  /(\b(?:Bearer|Basic)\s{1,8})(?=[^\s"']{0,300}\d|[^\s"']{20})[\w.~+/=-]{6,}/g,
  /()AGE-SECRET-KEY-1[0-9A-Z]+/gi,
  /()\bK10[0-9a-f]{6,}::[^\s"']+/g,
  // An API token of Proxmox: user@realm!name=value.
  /((?<![\w.-])[\w.-]{1,100}@[\w.-]{1,100}![\w.-]{1,100}=)[0-9a-f-]{8,}/gi,
  /()\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /()\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{8,}|hvs\.[\w-]{16,}|tskey-[\w-]{8,}|sk-[\w-]{20,})/g,
  /(hooks\.slack\.com\/services\/)[\w/]+/g,
  // Hashes of passwords as in /etc/shadow.
  /()\$(?:1|2[aby]|5|6|7|y|argon2id?)\$[^\s:"']{6,}/g,
  // Secrets on command lines and in configuration files.
  /((?<!\S)(?:-u|--user)[= ]["']?[^\s:"']{1,100}:)[^\s"']+/g,
  /(\b(?:requirepass|masterauth|sshpass\s{1,4}-p|login\s{1,8}\S{1,100}\s{1,8}password)\s{0,8})(?=\S)["']?[^\s"']+/g,
  /((?<![\w.-])[\w.-]{1,64}:)[^\s"'|]{1,200}(?=["']?\s{0,8}\|\s{0,8}(?:sudo\s{1,8})?chpasswd)/g,
]

/** A value in quotes, even escaped ones, or up to the next space. */
const VALUE = /\\?"(?:[^"\\]|\\[^"])*\\?"?|'[^']*'?|[^\s"'&,}\]{[*|>\\][^\s"'&]*/y
const LISTED = /\\?"(?:[^"\\]|\\[^"])*\\?"?|'[^']*'?|[^\s"'&,}\]{[*|>\\][^\s"',}\]]*/y
/** NAME=value, NAME = value and --flag=value. */
const ASSIGNED = /(?<![\w.-])-{0,2}([A-Za-z_][\w.-]{0,120})["']?[ \t]{0,8}:?={1,2}[ \t]{0,8}/g
/** --flag value. */
const FLAG = /(?<![\w.-])--([A-Za-z][\w-]{0,120})[ \t]{1,8}(?!-)/g
/** name: value and "name":"value". */
const SAID = /(?<![\w.-])(?:\\?["'])?([A-Za-z_][\w.-]{0,120})(?:\\?["'][ \t]{0,8}:[ \t]{0,8}|[ \t]{0,8}:[ \t]{1,8})/g

/** A value that refers to another one: `$TOKEN`, `${TOKEN}`, `$(TOKEN)`, `{{ .token }}`. */
const PLACEHOLDER = /^\\?["']?(?:\$\{|\$\(|\{\{|\$[A-Z_][A-Z0-9_]*\\?["']?$)/

/** Reports whether a secret field's value is harmless: empty, or a reference. Pure. */
export function isPlaceholder(value: string): boolean {
  return value === '' || PLACEHOLDER.test(value)
}

/**
 * Returns a person's text with `***` for its secrets. The number of lines stays: further lines of a secret become
 * `SWALLOWED`. Pure, and linear in the text.
 */
export function maskWritten(text: string): string {
  return masked(text, () => true)
}

/**
 * Returns a message with `***` for its secrets. After `token:` prose may follow (`token: not found`), so a value there
 * must look like one. Pure.
 */
export function maskMessage(text: string): string {
  return masked(text, (value) => /^\\?["']/.test(value) || (/^[^\s/]{6,}$/.test(value) && /\d/.test(value))).replaceAll(
    `\n${SWALLOWED}`,
    '',
  )
}

function masked(text: string, isValue: (value: string) => boolean): string {
  if (!SUSPECT.test(text)) return text
  let left = text.replace(PEM, swallow)
  for (const shape of SHAPES) left = left.replace(shape, '$1***')
  left = withoutValues(left, ASSIGNED, VALUE, () => true)
  left = withoutValues(left, FLAG, VALUE, () => true)
  return withoutValues(left, SAID, LISTED, isValue)
}

/** A harmless name ends where its value starts: the value itself may be a secret's name. */
function withoutValues(text: string, before: RegExp, value: RegExp, isValue: (value: string) => boolean): string {
  const pieces: string[] = []
  let at = 0
  for (const found of text.matchAll(before)) {
    const begin = found.index + found[0].length
    if (begin < at || !namesSecret(found[1] ?? '')) continue
    value.lastIndex = begin
    const [said = ''] = value.exec(text) ?? []
    if (said === '' || said.startsWith('***') || isPlaceholder(said) || !isValue(said)) continue
    pieces.push(text.slice(at, begin), '***')
    at = begin + said.length
  }
  return at === 0 ? text : `${pieces.join('')}${text.slice(at)}`
}

/** `***` for the first line of a secret, `SWALLOWED` for each that follows. */
export function swallow(secret: string): string {
  return `***${`\n${SWALLOWED}`.repeat(secret.split('\n').length - 1)}`
}
