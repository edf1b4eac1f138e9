import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { queues } from '../frame/store.ts';
import { Icon } from '../parts/icon.tsx';
import { REASONS, STATES } from '../types.ts';
import { JOBS } from '../words/jobs.ts';
import { facetValues, loadFacetValues } from './facet-values.ts';
import { type Filter, offersFor, parseFilter, takeOffer, writeFilter } from './filter.ts';

interface FilterBarProps {
  filter: Filter;
  onChange(filter: Filter): void;
}

/** Edits search and facets in one line: `queue:mail attempts:>3 disk full`. */
export function FilterBar({ filter, onChange }: FilterBarProps) {
  const given = writeFilter(filter);
  const text = useSignal(given);
  const open = useSignal(false);
  const at = useSignal(-1);
  useEffect(() => {
    text.value = given;
  }, [given]);
  const offers = open.value ? offersFor(text.value, valuesOf) : [];
  const apply = (): void => {
    open.value = false;
    onChange(parseFilter(text.value));
  };
  const take = (offer: string): void => {
    text.value = takeOffer(text.value, offer);
    at.value = -1;
    if (!offer.endsWith(':')) apply();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') {
      open.value = true;
      at.value = Math.min(offers.length - 1, at.value + 1);
    } else if (event.key === 'ArrowUp') at.value = Math.max(-1, at.value - 1);
    else if (event.key === 'Tab' && offers[at.value] !== undefined) take(offers[at.value]!);
    else if (event.key === 'Enter') offers[at.value] === undefined ? apply() : take(offers[at.value]!);
    else if (event.key === 'Escape' && offers.length > 0) open.value = false;
    else if (event.key === 'Escape') (event.currentTarget as HTMLElement).blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        data-search
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="filter-offers"
        aria-activedescendant={at.value < 0 ? undefined : `offer-${at.value}`}
        aria-label={JOBS.search}
        placeholder={JOBS.searchHint}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          open.value = /\S$/.test(text.value);
          at.value = -1;
        }}
        onKeyDown={onKeyDown}
        onFocus={() => void loadFacetValues()}
        onBlur={() => {
          open.value = false;
        }}
      />
      {text.value === '' ? null : (
        <button type="button" class="plain" onClick={() => onChange(new URLSearchParams())}>
          <Icon name="close" />
          <span class="hidden">{JOBS.clearFilter}</span>
        </button>
      )}
      <div id="filter-offers" role="listbox" aria-label={JOBS.suggestions} hidden={offers.length === 0}>
        {offers.map((offer, i) => (
          <div
            key={offer}
            id={`offer-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at.value}
            onMouseDown={(event) => {
              // Preventing the default keeps the focus in the field, so that the list stays open until the click.
              event.preventDefault();
              take(offer);
            }}
          >
            {offer}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Example values of the numeric facets. */
const EXAMPLES: Record<string, string[]> = {
  older: ['1h', '1d', '7d'],
  attempts: ['>1', '>3'],
  crashes: ['>0'],
  prio: ['>0', '<0'],
  dur: ['>10s', '>5m', '<1s'],
};

function valuesOf(facet: string): string[] {
  if (facet === 'state') return [...STATES];
  if (facet === 'waiting') return [...REASONS];
  if (facet === 'queue') return (queues.value ?? []).map(({ name }) => name);
  return facetValues.value[facet] ?? EXAMPLES[facet] ?? [];
}
