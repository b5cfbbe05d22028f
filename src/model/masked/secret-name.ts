import { wordSet } from '../../lib/word-list.ts'

/** Name parts that mark a secret anywhere in a name: `PGPASSWORD`, `apiToken`. */
const SECRET_PART =
  /passw|passphrase|secret|token(?!i[sz])|credential|(?:private|preshared|api|access|auth|signing|encryption|encrypt|client|master|shared|session|storage|account|license|hmac|deploy|service)key|keypass/
const SECRET_WORDS = wordSet('pass pwd pw psk authorization bearer jwt cookie')
/** Words that contain `pass` but mark no secret. */
const HARMLESS_PASS = /^(?:by|com|sur|tres|over|under|data)pass$/

/** Last words of names about a secret whose value is none: `secretName`, `TOKEN_FILE`, `tokenTTL`. */
const ATTRIBUTES = wordSet(`
  ref refs reference references from file files name names id ids path paths dir directory fingerprint url urls uri
  endpoint ttl length policy policies type types class provider store manager operator enabled disabled required expiry
  expiration expires seconds minutes hours days period lifetime audience audiences issuer mount mounts volume volumes
  algorithm version count max min size require rotation rotate format checksum generator template prefix suffix engine
  namespace role roles selector mode owner group index field header headers env var variable authentication login reset
  lock user users username hash driver request requests projection at by params service server
`)
/** First words of names that are settings or objects: `existingSecret`, `maxTokens`, `imagePullSecrets`. */
const QUALIFIERS = wordSet(
  'existing max min num use has no require allow enable disable is lock automount image rotate kind',
)

/** Reports whether the value under this name is a secret: a field, an environment variable, a flag, a header. Pure. */
export function namesSecret(name: string): boolean {
  if (!QUICK.test(name) || name.length > LONGEST) return false
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const [first = ''] = words
  const last = words.at(-1) ?? ''
  const together = words.join('')
  const isSecret =
    SECRET_PART.test(together) ||
    words.some((word) => SECRET_WORDS.has(word) || (word.endsWith('pass') && !HARMLESS_PASS.test(word)))
  if (!isSecret || (words.length > 1 && QUALIFIERS.has(first))) return false
  // A password can be guessed from its hash; a token cannot.
  return words.length === 1 || !ATTRIBUTES.has(last) || (last === 'hash' && together.includes('passw'))
}

const QUICK = /pass|pwd|pw|psk|secret|token|credential|key|authorization|bearer|jwt|cookie/i
const LONGEST = 300
