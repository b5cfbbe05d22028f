import { ui } from '../ui.ts'
import { Icon } from './icon.tsx'

export function FilterInput() {
  const { filter } = ui.use()
  return (
    <label class="filter">
      <Icon name="search" size={15} />
      <input
        data-filter
        value={filter}
        placeholder="Filter"
        aria-label="Filter"
        spellcheck={false}
        onInput={(event) => ui.set({ filter: event.currentTarget.value })}
      />
      <kbd>/</kbd>
    </label>
  )
}
