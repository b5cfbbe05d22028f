import { failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'

/** Every line is a public key: what follows its type says the same type again. */
export function checkKeys(text: string | undefined): void {
  if (text?.split('\n').some((line) => line.trim() !== '' && !isKey(line.trim())))
    throw failed('SSH public key validation error')
}

function isKey(line: string): boolean {
  const [, type = '', encoded = ''] = /^((?:ssh-|ecdsa-|sk-)\S+)\s+([A-Za-z0-9+/=]+)/.exec(line) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  return (
    type !== '' && bytes.length > type.length + 4 && bytes.toString('latin1', 4, 4 + bytes.readUInt32BE(0)) === type
  )
}

/** A machine's keys come encoded once more. */
export function decodedKeys({ params }: Call): string | undefined {
  return params.sshkeys === undefined ? undefined : decodeURIComponent(params.sshkeys)
}
