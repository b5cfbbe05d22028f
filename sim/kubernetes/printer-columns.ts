import { list, text, tree } from './object.ts'

/** A column that a definition declares, as the server prints it. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  /** Only with `-o wide`. */
  readonly wide: boolean
  /** Undefined: the object has nothing there. */
  read(object: unknown): unknown
}

/** `.status.conditions[?(@.type=='Ready')].status`: fields, with `\.` for a dot in a name, and the first element that fits. */
const PART = /\.((?:\\.|[^.[\]\\])+)|\[\?\(@\.([\w-]+)==['"]([^'"]*)['"]\)\]|\[(\d+)\]/gy

export function printerColumns(declared: readonly unknown[]): readonly PrinterColumn[] {
  return declared.map((one) => {
    const { name, type, jsonPath, priority } = tree(one)
    const path = text(jsonPath)
    return {
      name: text(name),
      type: text(type),
      wide: Number(priority ?? 0) > 0,
      read: (object) => readAt(object, path),
    }
  })
}

function readAt(object: unknown, path: string): unknown {
  let [value, end] = [object, 0]
  for (const [part, field, key, wanted, index] of path.matchAll(PART)) {
    end += part.length
    if (field !== undefined) value = tree(value)[field.replaceAll('\\', '')]
    else if (index !== undefined) value = list(value)[Number(index)]
    else value = list(value).find((one) => text(tree(one)[key ?? '']) === wanted)
    if (value === undefined) return undefined
  }
  return end === path.length ? value : undefined
}
