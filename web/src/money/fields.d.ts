export declare const moneyFields: Set<string>;
