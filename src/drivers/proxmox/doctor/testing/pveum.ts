import type { Datacentre } from '../../../../../sim/datacentre.ts'

/** Does what the pveum of a host does, by the API of the simulated one and as root. Answers the token that was made. */
export async function pveum(datacentre: Datacentre, commands: readonly string[]): Promise<string> {
  let token = ''
  for (const command of commands) {
    const [program, noun, verb, ...rest] = wordsOf(command)
    if (program !== 'pveum') throw new Error(`not pveum: ${command}`)
    const { plain, options } = optionsOf(rest)
    if (noun === 'role') await call(datacentre, 'POST', '/access/roles', { roleid: plain[0], privs: options.privs })
    else if (noun === 'acl') await call(datacentre, 'PUT', '/access/acl', { path: plain[0], ...options })
    else if (noun === 'user' && verb === 'add') await call(datacentre, 'POST', '/access/users', { userid: plain[0] })
    else if (noun === 'user' && verb === 'token') {
      const [, user = '', name = ''] = plain
      const made = await call(datacentre, 'POST', `/access/users/${user}/token/${name}`, options)
      token = `${user}!${name}=${(made as { value: string }).value}`
    } else throw new Error(`cannot do: ${command}`)
  }
  return token
}

async function call(
  { handle, token }: Datacentre,
  method: string,
  path: string,
  params: Readonly<Record<string, string | undefined>>,
): Promise<unknown> {
  const body = Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`)
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
