import { z } from 'zod'
import { size, whole } from '../fields/number.ts'
import { fileName, line, logicalName, matching, objectName, webUrl } from '../fields/text.ts'
import { fileContents } from '../settings/field-schema.ts'

const sha256 = matching(/^[0-9a-f]{64}$/, '64 small hexadecimal digits')

const packageName = matching(/^[a-z0-9][a-z0-9+.-]+$/, 'the name of a Debian package', 100)

/** How an image is built. All inputs of its bytes are here, so the same declaration gives the same image. */
const imageBuild = z.strictObject({
  debian: z
    .strictObject({
      suite: matching(/^[a-z][a-z0-9-]*$/, 'a suite like bookworm', 40),
      mirror: webUrl.optional(),
      snapshot: matching(/^\d{8}T\d{6}Z$/, 'a moment like 20251101T000000Z').optional(),
    })
    .optional(),
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
  k3s: z
    .strictObject({
      version: matching(/^v\d+\.\d+\.\d+(?:-rc\d+)?\+k3s\d+$/, 'a version like v1.34.3+k3s1'),
      /** Checksum of the binary, as in the release's list. */
      sha256,
      images: sha256.optional(),
    })
    .optional(),
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
  run: z
    .array(
      z
        .string()
        .max(64 * 1024)
        .refine((text) => /\S/.test(text) && !text.includes('\0') && text.isWellFormed(), { error: 'a shell script' })
        .register(fileContents, { contents: true }),
    )
    .max(50)
    .default([]),
  size: size.default('3Gi'),
  architecture: z.enum(['amd64', 'arm64']).default('amd64'),
  epoch: whole(0, 4_000_000_000).default(1_735_689_600),
  host: objectName.optional(),
})

export const imageSchema = z.strictObject({
  description: line.optional(),
  url: webUrl.optional(),
  build: imageBuild.optional(),
  checksum: matching(
    /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/,
    'sha256: and 64 small hexadecimal digits, or sha512: and 128',
  ).optional(),
  storage: logicalName,
  hosts: z.array(objectName).min(1).max(1000).optional(),
  fileName: fileName.optional(),
  content: z.enum(['import', 'iso', 'vztmpl']).default('import'),
  decompression: z.enum(['gz', 'lzo', 'zst', 'bz2']).optional(),
  replace: z.boolean().default(false),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Orphan'),
})

export type ImageSpec = z.output<typeof imageSchema>
