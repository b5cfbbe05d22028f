/** Where the format is judged: what its parser dies of is followed by this. */
const PLACE = 'at /usr/share/perl5/PVE/API2/Nodes.pm line 99.'

/** Several calls in one text of JSON: a list of objects with a path, a method and, if need be, arguments. */
export function batchError(text: string): string | undefined {
  let commands: unknown
  try {
    commands = JSON.parse(text)
  } catch {
    return `commands param did not contain valid JSON: ${parserSays(text)} ${PLACE}`
  }
  const errors = listErrors(commands)
  if (errors.length === 0) return undefined
  return `commands is not a valid array of commands: 400 Parameter verification failed.\n${errors.join('\n')}`
}

const WORDS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

/** The parser names the word that a letter begins, and otherwise all that a value may be. */
function parserSays(text: string): string {
  const start = text.length - text.trimStart().length
  const rest = text.slice(start)
  const word = WORDS[rest.charAt(0)]
  const fault =
    word === undefined
      ? 'malformed JSON string, neither tag, array, object, number, string or atom,'
      : `'${word}' expected,`
  return `${fault} at character offset ${start} (before "${rest === '' ? '(end of string)' : rest}")`
}

function listErrors(commands: unknown): string[] {
  if (!Array.isArray(commands)) return ["_root: type check ('array') failed"]
  return commands.flatMap((command: unknown, index) => {
    if (typeof command !== 'object' || command === null || Array.isArray(command))
      return [`[${index}]: type check ('object') failed`]
    const { path, method, args } = command as Readonly<Record<string, unknown>>
    return [
      ...(args === undefined || (typeof args === 'object' && args !== null && !Array.isArray(args))
        ? []
        : [`[${index}].args: type check ('object') failed`]),
      ...methodErrors(method).map((text) => `[${index}].method: ${text}`),
      ...(path === undefined ? [`[${index}].path: ${MISSING}`] : []),
    ]
  })
}

const MISSING = 'property is missing and it is not optional'

function methodErrors(method: unknown): string[] {
  if (method === undefined) return [MISSING]
  return typeof method === 'string' && /^(?:GET|POST|PUT|DELETE)$/.test(method)
    ? []
    : ['value does not match the regex pattern']
}
