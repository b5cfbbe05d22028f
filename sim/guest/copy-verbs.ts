import { createHash } from 'node:crypto'
import { COPIES, type NodeAnswer } from '../../src/k3s/node-program.ts'
import type { Computer } from '../world/types.ts'

type Deed = (
  computer: Computer,
  args: readonly string[],
  input: string,
) => NodeAnswer & Readonly<Record<string, unknown>>

const no = (error: string): NodeAnswer => ({ ok: false, error })
const partOf = (path: string) => `${path}.croft-part`
const mayTake = (path: string) => path.startsWith(`${COPIES}/`) && !/\.\.|\/\//.test(path)

/** Files in pieces, as the program on a node gives and takes them. */
export const COPY_VERBS: Readonly<Record<string, Deed>> = {
  measure: ({ machine }, [path = '']) => {
    const bytes = machine.files.read(path)
    if (bytes === undefined) return no(`there is no file ${path}`)
    return { ok: true, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  },
  piece: ({ machine }, [path = '', at = '', count = '']) => {
    const bytes = machine.files.read(path)
    if (bytes === undefined) return no(`there is no file ${path}`)
    return {
      ok: true,
      base64: Buffer.from(bytes)
        .subarray(Number(at), Number(at) + Number(count))
        .toString('base64'),
    }
  },
  taken: ({ machine }, [path = '']) =>
    mayTake(path)
      ? { ok: true, bytes: machine.files.read(partOf(path))?.length ?? 0 }
      : no(`the path ${path} may not be used`),
  take: ({ machine }, [path = '', at = ''], input) => {
    if (!mayTake(path)) return no(`the path ${path} may not be used`)
    if (machine.trouble.diskFull === true)
      return no(`a piece of ${path} could not be written: base64: write error: No space left on device`)
    const before = at === '0' ? new Uint8Array() : (machine.files.read(partOf(path)) ?? new Uint8Array())
    if (before.length !== Number(at))
      return no(`${before.length} bytes of ${path} are here, and a piece from ${at} was sent`)
    const bytes = Buffer.concat([before, Buffer.from(input, 'base64')])
    machine.files.write(partOf(path), bytes)
    return { ok: true, bytes: bytes.length }
  },
  keep: ({ machine }, [path = '', sha256 = '']) => {
    const bytes = mayTake(path) ? machine.files.read(partOf(path)) : undefined
    if (bytes === undefined) return no(`nothing of ${path} was taken`)
    machine.files.remove(partOf(path))
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      return no(`what arrived of ${path} has another checksum than ${sha256}`)
    machine.files.write(path, bytes)
    return { ok: true }
  },
}
