import type { Datacentre } from '../../../../../sim/datacentre.ts'

export interface PveumCall {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

/** Returns the API call of a pveum command. Its options are the call's parameters, with the same names. */
export function pveumCall(words: readonly string[]): PveumCall {
  const { plain, options } = optionsOf(words)
  const [noun, verb, first = '', second = '', third = ''] = plain
  if (noun === 'user' && verb === 'token' && first === 'add')
    return { method: 'POST', path: `/access/users/${second}/token/${third}`, params: options }
  switch (`${noun} ${verb}`) {
    case 'role add':
      return { method: 'POST', path: '/access/roles', params: { roleid: first, ...options } }
    case 'role modify':
      return { method: 'PUT', path: `/access/roles/${first}`, params: options }
    case 'acl modify':
      return { method: 'PUT', path: '/access/acl', params: { path: first, ...options } }
    case 'user add':
      return { method: 'POST', path: '/access/users', params: { userid: first, ...options } }
    default:
      throw new Error(`cannot do: ${words.join(' ')}`)
  }
}

/** Runs pveum commands through the simulated API as root. Returns the created token. */
export async function pveum(datacentre: Datacentre, commands: readonly string[]): Promise<string> {
  let token = ''
  for (const command of commands) {
    const [program, ...words] = wordsOf(command)
    if (program !== 'pveum') throw new Error(`not pveum: ${command}`)
    const { method, path, params } = pveumCall(words)
    const made = await call(datacentre, method, path, params)
    const [, user, name] = /^\/access\/users\/(.+)\/token\/(.+)$/.exec(path) ?? []
    if (name !== undefined) token = `${user}!${name}=${(made as { value: string }).value}`
  }
  return token
}

async function call(
  { handle, token }: Datacentre,
  method: string,
  path: string,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  const body = Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  const headers = { authorization: `PVEAPIToken=${token}`, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await handle({ method, path: `/api2/json${path}`, headers, body })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.reason}`)
  return (JSON.parse(answer.body) as { data: unknown }).data
}

function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

function optionsOf(words: readonly string[]) {
  const plain: string[] = []
  const options: Record<string, string> = {}
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word.startsWith('--')) options[word.slice(2)] = words[++at] ?? ''
    else plain.push(word)
  }
  return { plain, options }
}
