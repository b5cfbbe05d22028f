import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'

/**
 * Texts that may reach a host are matched against allowed characters, never against forbidden ones: no quotes, spaces,
 * commas, dollar signs or leading dashes can get into a property string, a path or a command line.
 */
export function matching(pattern: RegExp, what: string, max?: number): z.ZodString {
  const text = max === undefined ? z.string() : z.string().max(max)
  return text.regex(pattern, { error: what })
}

export const objectName = matching(
  /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  'a name: small letters, digits, dashes and dots, beginning and ending with a letter or digit',
  253,
)

export const hostName = matching(
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/,
  'a host name: letters, digits and dashes, beginning and ending with a letter or digit',
  63,
)

export const dnsName = matching(
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/,
  'a DNS name: labels of letters, digits and dashes, separated by dots',
  253,
)

/** The name of a network or a storage in Git; a Host maps it to the local name. */
export const logicalName = matching(
  /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  'a name: small letters, digits and dashes, beginning and ending with a letter or digit',
  63,
)

export const storageName = matching(
  /^[a-zA-Z][a-zA-Z0-9._-]*[a-zA-Z0-9]$/,
  'a storage name: a letter, then letters, digits, dots, dashes or underscores',
  100,
)

export const bridgeName = matching(
  /^[a-zA-Z][a-zA-Z0-9_.-]{0,14}$/,
  'a bridge name: a letter, then at most 14 letters, digits, dots, dashes or underscores',
  15,
)

export const fileName = matching(
  /^[a-zA-Z0-9][a-zA-Z0-9._+-]*$/,
  'a file name without a path: letters, digits, dots, dashes, underscores or plus signs',
  255,
)

export const volumeName = matching(
  /^[a-zA-Z][a-zA-Z0-9._-]*:[a-zA-Z0-9][a-zA-Z0-9._+-]*(?:\/[a-zA-Z0-9][a-zA-Z0-9._+-]*){0,3}$/,
  'a volume like local:import/noble.qcow2',
  400,
)

export const poolName = matching(
  /^[a-zA-Z0-9][a-zA-Z0-9._-]*(?:\/[a-zA-Z0-9][a-zA-Z0-9._-]*){0,2}$/,
  'a pool name: letters, digits, dots, dashes or underscores',
  200,
)

export const tag = matching(
  /^[a-zA-Z0-9_][a-zA-Z0-9_.+-]*$/,
  'a tag: letters, digits, underscores, dashes, dots or plus signs, not beginning with a dash',
  100,
).refine((text) => !/^croft(?:-.*)?$/i.test(text), {
  error: 'another tag: croft and croft-… are the marks that croft itself leaves',
})

export const macAddress = matching(
  /^[0-9a-fA-F][02468aceACE](?::[0-9a-fA-F]{2}){5}$/,
  'the MAC address of one device, like BC:24:11:00:00:01',
  17,
)

export const userName = matching(
  /^[a-z_][a-z0-9_-]{0,31}$/,
  'a user name: small letters, digits, dashes or underscores, at most 32',
  32,
)

export const sshKey = matching(
  /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) [A-Za-z0-9+/]{40,}={0,3}(?: [A-Za-z0-9@._+ -]*)?$/,
  'one public SSH key on one line, like ssh-ed25519 AAAA… name',
  8192,
)

/** A URL without user and password, and without characters of a shell; brackets only for IPv6. */
export const webUrl = matching(
  /^https?:\/\/(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?(?:\/[a-zA-Z0-9._~%+,:@!*/-]*)?(?:\?[a-zA-Z0-9._~%+,:@!*/?&=-]*)?$/,
  'a web address that begins with https:// or http://, without user, password or fragment',
  2000,
)

/** One line for people, without control characters. */
export const line = matching(
  /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/,
  'one line without control characters',
  1000,
)

/** Several lines for people. */
const prose = matching(
  /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/,
  'text without control characters',
  8000,
)

/** User data as text. Its content is checked when the machine is expanded. */
export const cloudConfig = matching(
  /^#cloud-config[ \t]*(?:\n[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*)?$/,
  'text that begins with the line #cloud-config',
  LIMITS.writtenFileLength,
)

/** A description without croft's own line, which marks the owner: a manifest must not forge one. */
export const description = prose.refine((text) => !/^croft: /m.test(text), {
  error: 'text in which no line begins with "croft: ", which is how croft marks what is its own',
})
