import { createCipheriv, createDecipheriv } from 'node:crypto'
import { unguessable } from './unguessable.ts'

/** Seals a text so that only this process can read it, and detects changes. */
export interface Seal {
  close(text: string): string
  /** Undefined: it was not sealed here, or was changed. */
  open(sealed: string): string | undefined
}

export function createSeal(): Seal {
  const key = bytesOf(unguessable(32))
  return {
    close(text) {
      const nonce = bytesOf(unguessable(12))
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64url')
    },
    open(sealed) {
      const bytes = bytesOf(sealed)
      if (bytes.length < 28) return undefined
      const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      cipher.setAuthTag(bytes.subarray(12, 28))
      try {
        return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
