import { yamlLibrary } from '../lib/yaml-library.ts'
import type { SeedDocument, TreeMap } from '../model/vm.ts'
import { type IsoFile, isoImage } from './iso.ts'

/** The label by which cloud-init's NoCloud source finds its disc. */
const VOLUME = 'CIDATA'

/** The files of a document, as cloud-init reads them. */
export function seedFiles(document: SeedDocument): readonly IsoFile[] {
  const files = [
    { name: 'meta-data', text: printYaml(document.metaData) },
    { name: 'user-data', text: `#cloud-config\n${printYaml(document.userData)}` },
  ]
  if (document.networkConfig !== undefined)
    files.push({ name: 'network-config', text: printYaml(document.networkConfig) })
  return files.map(({ name, text }) => ({ name, bytes: new TextEncoder().encode(text) }))
}

/** The disc that a machine reads at its first boot. The same document gives the same bytes. */
export function seedImage(document: SeedDocument): Uint8Array {
  return isoImage(VOLUME, seedFiles(document))
}

/** Texts that mean themselves to every reader of YAML, or are laid out line by line. All others are quoted. */
const BARE = /^[A-Za-z/][A-Za-z0-9_./@+ -]*$|\n/

/**
 * Prints YAML 1.1, which cloud-init reads: there `on`, `012` and `1:30` are no texts unless they are quoted, and PyYAML
 * also fails on unquoted `=`, `<<` and tabs.
 */
export function printYaml(tree: TreeMap): string {
  const { Document, isScalar, visit } = yamlLibrary()
  const document = new Document(tree, {
    version: '1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge'),
  })
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && typeof node.value === 'string' && !BARE.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, directives: false })
}
