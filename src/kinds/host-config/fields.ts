import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { userName } from '../fields/text.ts'
import { fileContents, freeText } from '../settings/field-schema.ts'

function word(pattern: RegExp, max: number, what: string): z.ZodString {
  return z.string().max(max).regex(pattern, { error: what })
}

/** The whole path of a file: no blanks, no quotes, no way up. */
export const path = word(
  /^(?!.*\/\.\.?(?:\/|$))(?:\/[A-Za-z0-9_@%+:=,.-]+)+$/,
  1024,
  'a whole path like /etc/motd, without blanks and without ..',
)
export const packageName = word(/^[a-z0-9][a-z0-9+.-]+$/, 200, 'the name of a Debian package')
export const version = word(/^[A-Za-z0-9][A-Za-z0-9.+:~-]*$/, 200, 'the version of a Debian package')
/** For names of our own: repositories, rules, blocks. */
export const plainName = word(
  /^[A-Za-z0-9][A-Za-z0-9_.-]*$/,
  100,
  'a name of letters, digits, dots, dashes and underscores',
)
export const unitName = word(
  /^[A-Za-z0-9@_][A-Za-z0-9@_.:\\-]*\.(?:service|timer|socket|mount|path|target|slice)$/,
  255,
  'the whole name of a unit, like k3s.service',
)
export const sysctlKey = word(
  /^[a-z0-9_]+(?:[./][A-Za-z0-9_*-]+)+$/,
  200,
  'a setting of the kernel, like net.ipv6.conf.all.forwarding',
)
export const sysctlValue = word(/^(?!.*\.\.\/)[A-Za-z0-9][A-Za-z0-9 .,:/_-]*$|^-?[0-9]+$/, 500, 'a value of one line')
export const moduleName = word(/^[A-Za-z0-9_][A-Za-z0-9_-]*$/, 100, 'the name of a kernel module')
export const kernelArg = word(
  /^(?!.*\.\.\/)[A-Za-z0-9_][A-Za-z0-9_.,:=/@+-]*$/,
  500,
  'one word for the kernel, like cgroup_memory=1',
)
export const interfaceName = word(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/, 15, 'the name of a network interface')
/** Only names that stay the same whatever order the disks are found in. */
export const diskById = word(
  /^\/dev\/disk\/by-id\/[A-Za-z0-9][A-Za-z0-9_.:+-]*$/,
  300,
  'a disk by its id, like /dev/disk/by-id/ata-…; letters such as sda change from start to start',
)
export const serial = word(/^[A-Za-z0-9][A-Za-z0-9_. -]*$/, 200, 'the serial number of a disk')
export const property = z.record(
  word(/^[a-z][a-z0-9:_.@-]*$/, 100, 'the name of a property'),
  word(/^(?!.*\.\.\/)[A-Za-z0-9/][A-Za-z0-9/_.:,+-]*$/, 500, 'the value of a property'),
)
export const mode = word(/^0?[0-7]{3,4}$/, 5, 'rights like "0644", in quotes').transform((text) =>
  Number.parseInt(text, 8),
)
export const account = userName
/** Text of a file. No NUL, and nothing that is not text. */
export const fileText = z
  .string()
  .max(LIMITS.writtenFileLength)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: 'text' })
  .register(fileContents, { contents: true })
/** A line of a file, as it stands there. Nothing in it may turn the text around it about on somebody's screen. */
export const oneLine = word(
  /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+$/,
  2000,
  'one line without control characters',
).register(freeText, { free: true })
export const url = word(
  /^(?:(?:https?|ftp):\/\/[A-Za-z0-9.[\]:-]+(?:\/[A-Za-z0-9._~%+:@/-]*)?|file:(?!.*\/\.\.?(?:\/|$))(?:\/[A-Za-z0-9._+-]+)+\/?)$/,
  500,
  'an address like https://pkgs.k8s.io/core, or file:/srv/packages',
)
export const armoured = z
  .string()
  .max(64 * 1024)
  .regex(/^-----BEGIN PGP PUBLIC KEY BLOCK-----\n[A-Za-z0-9+/=:.,@()<> \n-]*-----END PGP PUBLIC KEY BLOCK-----\n?$/, {
    error: 'a public key in ASCII armour',
  })
