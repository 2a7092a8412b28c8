import { EMPTY_VALUES } from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';

export interface ExampleRule {
  label: string;
  /** What it finds. */
  finds: string;
  /** What to replace by one's own. */
  change: string;
  values: MonitorFormValues;
}

const example = (label: string, finds: string, change: string, values: Partial<MonitorFormValues>): ExampleRule => ({
  label,
  finds,
  change,
  values: { ...EMPTY_VALUES, ...values },
});

/** Rules that a new monitor may begin with, by their names in addresses. */
export const EXAMPLE_RULES: Readonly<Record<string, ExampleRule>> = {
  brand: example(
    'Brand mentions',
    'A name in each of its spellings, outside its own community',
    'Replace the spellings of Visual Studio Code by those of your brand, and leave out its own community.',
    {
      name: 'Brand mentions',
      keywords: 'visual studio code\nvs code\nvscode',
      exclude_subreddits: 'vscode',
      exclude_authors: 'AutoModerator',
    },
  ),
  hiring: example(
    'Hiring posts',
    'Jobs for a skill, once per thread',
    'Replace Rust by your skill, and the excluded phrase by what it is mistaken for.',
    {
      name: 'Hiring posts',
      keywords: 'rust',
      exclude: 'rust belt',
      require: 'hiring OR "job opening" OR "open position" OR "open role" OR "we are looking for"',
      exclude_authors: 'AutoModerator',
      thread_once: true,
    },
  ),
  comparison: example(
    'Competitor comparisons',
    'Two products named together by somebody who may switch',
    'Replace React by your product, and the first line of “Also required” by its competitors.',
    {
      name: 'Competitor comparisons',
      terms: '=React',
      exclude: 'react native',
      require: 'vue OR angular OR svelte\nversus OR vs OR alternative* OR migrat* OR switch* OR replac*',
    },
  ),
  questions: example(
    'Questions about a topic',
    'Posts whose title asks how to do something',
    'Replace Docker by your topic.',
    {
      name: 'Questions about a topic',
      terms: 'title:"how do i"\ntitle:"how to"\ntitle:"how can i"\ntitle:"what is the best way"',
      require: 'docker OR dockerfile',
      comments: false,
    },
  ),
};
