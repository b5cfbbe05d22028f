import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { matching, userName } from '../fields/text.ts'
import { fileContents, freeText } from '../settings/field-schema.ts'

/** The whole path of a file: no blanks, no quotes, no way up. */
export const path = matching(
  /^(?!.*\/\.\.?(?:\/|$))(?:\/[A-Za-z0-9_@%+:=,.-]+)+$/,
  'a whole path like /etc/motd, without blanks and without ..',
  1024,
)
export const packageName = matching(/^[a-z0-9][a-z0-9+.-]+$/, 'the name of a Debian package', 200)
export const version = matching(/^[A-Za-z0-9][A-Za-z0-9.+:~-]*$/, 'the version of a Debian package', 200)
/** For names of our own: repositories, rules, blocks. */
export const plainName = matching(
  /^[A-Za-z0-9][A-Za-z0-9_.-]*$/,
  'a name of letters, digits, dots, dashes and underscores',
  100,
)
export const unitName = matching(
  /^[A-Za-z0-9@_][A-Za-z0-9@_.:\\-]*\.(?:service|timer|socket|mount|path|target|slice)$/,
  'the whole name of a unit, like k3s.service',
  255,
)
export const sysctlKey = matching(
  /^[a-z0-9_]+(?:[./][A-Za-z0-9_-]+)+$/,
  'a setting of the kernel, like net.ipv6.conf.all.forwarding',
  200,
)
export const sysctlValue = matching(
  /^(?!.*\.\.\/)[A-Za-z0-9][A-Za-z0-9 .,:/_-]*$|^-?[0-9]+$/,
  'a value of one line',
  500,
)
export const moduleName = matching(/^[A-Za-z0-9_][A-Za-z0-9_-]*$/, 'the name of a kernel module', 100)
export const kernelArg = matching(
  /^(?!.*\.\.\/)[A-Za-z0-9_][A-Za-z0-9_.,:=/@+-]*$/,
  'one word for the kernel, like cgroup_memory=1',
  500,
)
export const interfaceName = matching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/, 'the name of a network interface', 15)
/** Accepts only names that do not depend on the order in which disks are found. */
export const diskById = matching(
  /^\/dev\/disk\/by-id\/[A-Za-z0-9][A-Za-z0-9_.:+-]*$/,
  'a disk by its id, like /dev/disk/by-id/ata-…; letters such as sda change from start to start',
  300,
)
export const serial = matching(/^[A-Za-z0-9][A-Za-z0-9_. -]*$/, 'the serial number of a disk', 200)
export const property = z.record(
  matching(/^[a-z][a-z0-9:_.@-]*$/, 'the name of a property', 100),
  matching(/^(?!.*\.\.\/)[A-Za-z0-9/][A-Za-z0-9/_.:,+-]*$/, 'the value of a property', 500),
)
export const mode = matching(/^0?[0-7]{3,4}$/, 'rights like "0644", in quotes', 5).transform((text) =>
  Number.parseInt(text, 8),
)
export const account = userName
/** Text of a file. No NUL, and nothing that is not text. */
export const fileText = z
  .string()
  .max(LIMITS.writtenFileLength)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: 'text' })
  .register(fileContents, { contents: true })
/** A line of a file, verbatim. Forbids characters that reorder the text around them on a screen. */
export const oneLine = matching(
  /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+$/,
  'one line without control characters',
  2000,
).register(freeText, { free: true })
export const url = matching(
  /^(?:(?:https?|ftp):\/\/[A-Za-z0-9.[\]:-]+(?:\/[A-Za-z0-9._~%+:@/-]*)?|file:(?!.*\/\.\.?(?:\/|$))(?:\/[A-Za-z0-9._+-]+)+\/?)$/,
  'an address like https://pkgs.k8s.io/core, or file:/srv/packages',
  500,
)
/** Where a program is fetched from; the checksum pins its content. */
export const fetchUrl = matching(
  /^(?:https?:\/\/[A-Za-z0-9.[\]:-]+\/[A-Za-z0-9._~%+:@/-]+|file:(?!.*\/\.\.?(?:\/|$))(?:\/[A-Za-z0-9._+-]+)+)$/,
  'an address like https://get.helm.sh/helm-v3.19.0-linux-amd64.tar.gz, or file:/srv/helm',
  500,
)
/** A file inside an archive. */
export const memberPath = matching(
  /^(?!.*\.\.)[A-Za-z0-9_@+][A-Za-z0-9_@+./-]*$/,
  'the path of a file in the archive, like linux-amd64/helm',
  500,
)
export const armoured = matching(
  /^-----BEGIN PGP PUBLIC KEY BLOCK-----\n[A-Za-z0-9+/=:.,@()<> \n-]*-----END PGP PUBLIC KEY BLOCK-----\n?$/,
  'a public key in ASCII armour',
  64 * 1024,
)
