import { testRecipe } from './recipe.ts';

testRecipe('dbos');
