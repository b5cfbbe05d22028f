import type { Command } from './command.ts'
import { type Edit, editBack, editOf, wordsIn } from './edit.ts'
import { fileInHome } from './home.ts'

/**
 * Returns the undo of an item whose declaration changed since its first change. What the first declaration changed is
 * restored to its original state; what only the new one changes, to the current state. `null`: impossible.
 */
export function undoOfBoth(
  first: readonly Command[] | null,
  now: readonly Command[] | null,
): readonly Command[] | null {
  if (first === null || now === null) return first
  const places = new Set(first.map(placeOf))
  const edits = new Map(now.map((command) => [placeOf(command), editOf(command)]))
  const kept = first.map((command) => {
    const [before, after] = [editOf(command), edits.get(placeOf(command))]
    return before === undefined || after === undefined ? command : editBack(editOfBoth(before, after))
  })
  const added = now.filter((command) => !places.has(placeOf(command)))
  // Armed commands stay first: the rest follows the arming.
  const at = kept[0]?.do === 'arm' ? 1 : 0
  return [...kept.slice(0, at), ...added, ...kept.slice(at)]
}

function editOfBoth(first: Edit, now: Edit): Edit {
  // Our line has changed; what it originally replaced is the same.
  if (first.what !== 'words') return { ...first, ours: now.ours }
  const [added, gone] = [wordsIn(first.end), wordsIn(first.before)]
  // A removed word of ours was not there originally, and a restored one was: ignore both.
  const end = [...added, ...wordsIn(now.end).filter((word) => !gone.includes(word))]
  const before = [...gone, ...wordsIn(now.before).filter((word) => !added.includes(word))]
  return { ...first, end: [...new Set(end)].join(' '), before: [...new Set(before)].join(' ') }
}

/** Returns a command's subject: of two with the same one, only the first declaration's command undoes it. */
export function placeOf(command: Command): string {
  switch (command.do) {
    case 'put':
    case 'remove':
      return `file ${command.path}`
    case 'arm':
    case 'disarm':
      return `${command.do} ${command.name}`
    case 'prove':
      return 'prove'
    case 'run':
      return placeOfRun(command)
  }
}

function placeOfRun(command: Extract<Command, { readonly do: 'run' }>): string {
  const { argv } = command
  const edit = editOf(command)
  if (edit !== undefined) return `${edit.what} ${edit.path}`
  const inHome = fileInHome(argv)
  if (inHome !== undefined) return `file ${inHome}`
  const words = argv[0] === 'env' ? argv.slice(2) : argv
  const [program = '', verb = ''] = words
  const last = words.at(-1) ?? ''
  switch (program) {
    case 'ln':
      return `file ${last}`
    case 'sysctl':
    case 'apt-get':
      return `${program} ${last.split('=')[0]}`
    case 'zfs':
      return `${program} ${(words[2] ?? '').split('=')[0]} ${last}`
    case 'systemctl':
      return `${program} ${verb === 'start' || verb === 'stop' ? 'state' : verb === 'enable' || verb === 'disable' ? 'enabled' : verb} ${last}`
    case 'usermod':
      return `${program} ${verb} ${last}`
    default:
      return words.join(' ')
  }
}
