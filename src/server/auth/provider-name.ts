import { createHash } from 'node:crypto'

/** Characters of other scripts that most fonts draw like a Latin letter. */
const ALIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwӏlҽe'.matchAll(/(.)(.)/gu),
    ...'αaοoρpνvυuιiκkτtϲcηn'.matchAll(/(.)(.)/gu),
    ...'ɑaɡgıi'.matchAll(/(.)(.)/gu),
  ].map(([, other = '', latin = '']) => [other, latin]),
)

/** Returns the name that a provider gave as people are shown it: one line, nothing invisible in it. Pure. */
export function shownName(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+/gu, ' ')
    .trim()
}

/** Returns the visual form of a name: people confuse two names with the same form. Pure. */
export function lookOf(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return [...plain].map((one) => ALIKE[one] ?? one).join('')
}

/**
 * Returns the actor of a provider's user, for the audit log and for judging whether two actors are one person. The
 * provider may give any name to anyone, so the subject decides. Pure.
 */
export function actorOf(
  name: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): `oidc:${string}` {
  const plain = /^[\x21-\x7e]{1,80}$/.test(subject)
    ? subject
    : `sha256:${createHash('sha256').update(subject).digest('hex')}`
  // Only croft writes the last parentheses, so remove them from the name.
  return `oidc:${shownName(name).replaceAll(/[()]/g, '')} (${plain} of ${issuer})`
}
