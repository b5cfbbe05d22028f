import { z } from 'zod'
import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { wrongEnding } from './fields/file-name.ts'
import { fileName, line, logicalName, matching, objectName, webUrl } from './fields/text.ts'
import { keeperOf } from './hypervisors/registry.ts'
import type { FieldProblem, Part } from './kind.ts'
import { connectionOf, findHost, unbound, unknownHost } from './machines/bindings.ts'
import { checkImageBuild, imageBuild } from './machines/image-build.ts'
import { imageFile, imageHosts, imageName, isJustInCase } from './machines/image-files.ts'

const schema = z.strictObject({
  description: line.optional(),
  /** Where a host downloads it from; or else build. */
  url: webUrl.optional(),
  /** How it is made: `croft image build` makes it and brings it to every host that needs it. */
  build: imageBuild.optional(),
  checksum: matching(
    /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/,
    'sha256: and 64 small hexadecimal digits, or sha512: and 128',
  ).optional(),
  /** Logical storage; each host says what it is called there. */
  storage: logicalName,
  /** Hosts that get a copy; without it, those whose machines are made from the image. */
  hosts: z.array(objectName).min(1).max(1000).optional(),
  fileName: fileName.optional(),
  content: z.enum(['import', 'iso', 'vztmpl']).default('import'),
  decompression: z.enum(['gz', 'lzo', 'zst', 'bz2']).optional(),
  /** May a file of that name with another checksum be replaced? */
  replace: z.boolean().default(false),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Orphan'),
})

export type ImageSpec = z.output<typeof schema>

/** An image that machines are made from, on every host that needs it. */
export const image = croftKind<ImageSpec>({
  kind: 'Image',
  plural: 'images',
  shortNames: ['img'],
  summary: 'An image that machines are made from; a copy is kept on every host that needs it.',
  schema,

  check(spec, manifest) {
    const problems: FieldProblem[] = []
    problems.push(...checkImageBuild(spec))
    if (spec.url === undefined && spec.build === undefined) return problems
    const name = imageName(spec, manifest.metadata.name)
    const path = ['spec', spec.fileName === undefined ? 'url' : 'fileName']
    const wrong = name === undefined ? 'the url does not end in a file name' : wrongEnding(name, spec.content)
    if (wrong !== undefined) problems.push({ code: 'bad-value', path, message: wrong, hint: 'set fileName' })
    if (spec.checksum === undefined && spec.build === undefined) {
      problems.push({
        code: 'no-checksum',
        path: ['spec', 'url'],
        severity: 'warning',
        message: 'without a checksum nobody notices when the file behind the url changes',
        hint: 'add checksum: sha256:…',
      })
    }
    return problems
  },

  policy: (spec, manifest) => ({ ...annotatedPolicy(manifest), deletion: spec.deletionPolicy }),

  expand(declaration, lookup) {
    const problems: FieldProblem[] = []
    const parts: Part[] = []
    const named = declaration.spec.hosts !== undefined
    for (const [index, name] of imageHosts(declaration, lookup).entries()) {
      const path = ['spec', 'hosts', index]
      const host = findHost(name, declaration.namespace, lookup)
      const file = host === undefined ? undefined : imageFile(declaration, host)
      const connection = host === undefined ? {} : connectionOf(host, path, lookup)
      const { hypervisor } = keeperOf(host, lookup)
      if (declaration.spec.build !== undefined && host !== undefined && !hypervisor.takesBuiltImages) {
        problems.push(builtElsewhere(host.name))
        continue
      }
      if (file !== undefined && !('problem' in connection)) {
        parts.push({
          key: file.key,
          ...connection,
          desired: { type: 'file', file: file.file },
          needs: hypervisor.placeOf(file.file.host, file.file.storage, lookup),
          ...(isJustInCase(declaration, name, lookup) ? { justInCase: true } : {}),
        })
        continue
      }
      // A host that only a machine names is that machine's problem; the other hosts get their copy.
      if (!named) continue
      if (host === undefined) problems.push(unknownHost(name, path, lookup))
      else if ('problem' in connection) problems.push(connection.problem)
      else problems.push(unbound('storages', declaration.spec.storage, host, path, lookup))
    }
    return problems.length > 0 ? { problems } : { role: 'resources', parts }
  },
})

/** Proxmox takes disk images only by downloading them itself. */
function builtElsewhere(host: string): FieldProblem {
  return {
    code: 'not-possible',
    path: ['spec', 'build'],
    message: `the hypervisor of ${host} takes no image that croft built`,
    hint: 'put the built file on a web server and write its url and checksum instead',
  }
}
