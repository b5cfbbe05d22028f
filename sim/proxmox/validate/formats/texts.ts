import { batchError } from './command-batch.ts'
import { type Formats, matching } from './format.ts'

const WORD = '[\\w+~-]+(?:\\.[\\w+~-]+)*'
const HOST = '[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)*'

const EMAIL = new RegExp(`^${WORD}@${HOST}$`)
const EMAIL_OR_USER = new RegExp(`^${WORD}(?:@${HOST})?$`)

/** Kinds of text that stand for themselves. */
export const TEXT_FORMATS: Formats = {
  email: matching(EMAIL, () => 'value does not look like a valid email address'),
  'email-or-username': matching(EMAIL_OR_USER, () => 'value does not look like a valid email address or user name'),
  urlencoded: matching(/^(?:[-_.~a-zA-Z0-9]|%[0-9a-fA-F]{2})*$/, (text) => `invalid urlencoded string: ${text}`),
  string: { judge: () => undefined },
  'graphite-path': matching(
    /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/,
    () => 'value does not look like a valid graphite path',
  ),
  'pem-string': { judge: pemError(/^BLOCK$/, '[^\\n]*?') },
  'pem-certificate': { judge: pemError(/^BLOCK$/, 'CERTIFICATE') },
  'pem-certificate-chain': { judge: pemError(/^(?:BLOCK\n*)+$/, 'CERTIFICATE') },
  'pve-command-batch': { judge: batchError },
  'ldap-simple-attr': matching(
    /^[a-zA-Z0-9]+$/,
    (text) => `value '${text}' does not look like a simple ldap attribute name`,
  ),
}

/** Text before the first block is left out; what follows must be nothing but blocks. */
function pemError(form: RegExp, label: string): (text: string) => string | undefined {
  const block = `-----BEGIN ${label}-----\\s*[0-9A-Za-z+/\\s]*={0,2}\\s*\\n-----END ${label}-----\\s*`
  const whole = new RegExp(form.source.replace('BLOCK', block))
  return (text) => {
    const begins = text.indexOf('-----BEGIN ')
    return whole.test(begins < 0 ? text : text.slice(begins)) ? undefined : 'not a valid PEM-formatted string.'
  }
}
