import { machineOf } from '../../../guest/machine.ts'
import type { Guest } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, param } from '../../call.ts'

const agentError = (text: string) => failed(`Agent error: ${text}`)
const MOST_READ = 16 * 1024 * 1024

/** Characters are bytes here, so a letter beyond Latin-1 cannot be sent. */
export function writeFile(guest: Guest, call: Call): null {
  const { files } = machineOf(call.world, guest)
  const path = param(call, 'file')
  const content = param(call, 'content')
  const raw = call.params.encode === '0'
  if (raw && !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) throw agentError('Base64 data contains invalid characters')
  const folder = path.slice(0, path.lastIndexOf('/')) || '/'
  if (!files.isFolder(folder)) throw agentError(`failed to open file '${path}' (mode: 'wb'): No such file or directory`)
  files.write(path, Buffer.from(content, raw ? 'base64' : 'latin1'))
  return null
}

export function readFile(guest: Guest, call: Call): Record<string, unknown> {
  const { files } = machineOf(call.world, guest)
  const path = param(call, 'file')
  if (files.isFolder(path)) throw agentError('failed to read file: Is a directory')
  const bytes = files.read(path)
  if (bytes === undefined) throw agentError(`failed to open file '${path}' (mode: 'r'): No such file or directory`)
  const offset = Number(call.params.offset ?? 0)
  const part = Buffer.from(bytes.slice(offset, offset + Number(call.params.count ?? MOST_READ)))
  const more = offset + part.length < bytes.length
  return {
    content: part.toString(call.params.decode === '0' ? 'base64' : 'latin1'),
    'bytes-read': part.length,
    ...(more ? { truncated: 1 } : {}),
  }
}
