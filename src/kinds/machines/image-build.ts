import { z } from 'zod'
import { size, whole } from '../fields/number.ts'
import { matching, objectName, webUrl } from '../fields/text.ts'
import type { ImageSpec } from '../image.ts'
import type { FieldProblem } from '../kind.ts'
import { fileContents } from '../settings/field-schema.ts'

const sha256 = matching(/^[0-9a-f]{64}$/, '64 small hexadecimal digits')

const packageName = matching(/^[a-z0-9][a-z0-9+.-]+$/, 'the name of a Debian package', 100)

/** How an image is made. Everything that decides its bytes stands here, so the same declaration gives the same image. */
export const imageBuild = z.strictObject({
  /** From Debian's own packages: nothing is in it that was not asked for. */
  debian: z
    .strictObject({
      suite: matching(/^[a-z][a-z0-9-]*$/, 'a suite like bookworm', 40),
      mirror: webUrl.optional(),
      /** A moment of snapshot.debian.org: the packages of that moment, always the same. */
      snapshot: matching(/^\d{8}T\d{6}Z$/, 'a moment like 20251101T000000Z').optional(),
    })
    .optional(),
  /** From another disk image, whose root is taken and cleaned. */
  image: z
    .strictObject({
      url: webUrl,
      checksum: matching(
        /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/,
        'sha256: and 64 small hexadecimal digits, or sha512: and 128',
      ),
    })
    .optional(),
  packages: z.array(packageName).max(500).default([]),
  /** K3s put in, so that a new node need not download it. */
  k3s: z
    .strictObject({
      version: matching(/^v\d+\.\d+\.\d+(?:-rc\d+)?\+k3s\d+$/, 'a version like v1.34.3+k3s1'),
      /** Of the binary, as the release lists it. */
      sha256,
      /** Also the container images that K3s starts with (airgap), by their checksum. */
      images: sha256.optional(),
    })
    .optional(),
  /** Files put in as they are. */
  files: z
    .array(
      z.strictObject({
        path: matching(/^(?:\/[a-zA-Z0-9_.+-]*[a-zA-Z0-9_+-])+$/, 'a path like /etc/motd', 400).refine(
          (path) => !path.split('/').includes('..'),
          { error: 'a path without ..' },
        ),
        content: z
          .string()
          .max(64 * 1024)
          .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: 'text' })
          .register(fileContents, { contents: true }),
        mode: matching(/^0[0-7]{3}$/, 'a mode like 0644').default('0644'),
      }),
    )
    .max(100)
    .default([]),
  size: size.default('3Gi'),
  architecture: z.enum(['amd64', 'arm64']).default('amd64'),
  /** The time that everything in it bears, in seconds since 1970. */
  epoch: whole(0, 4_000_000_000).default(1_735_689_600),
  /** The Host that it is made on; this computer unless said otherwise. */
  host: objectName.optional(),
})

export function checkImageBuild(spec: ImageSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const bad = (path: readonly string[], message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...(hint === undefined ? {} : { hint }) })
  const { url, build } = spec
  if ((url === undefined) === (build === undefined))
    bad(
      url === undefined ? ['storage'] : ['build'],
      'an image comes from a url or from a build',
      'write one of url and build',
    )
  if (build === undefined) return problems
  if ((build.debian === undefined) === (build.image === undefined))
    bad(['build'], 'an image is built from debian or from image', 'write one of them')
  if (build.debian?.mirror !== undefined && build.debian.snapshot !== undefined)
    bad(['build', 'debian', 'mirror'], 'a snapshot is its own mirror', 'leave mirror out')
  if (spec.content !== 'import') bad(['content'], 'a built image is a disk image', 'leave content out')
  return problems
}
